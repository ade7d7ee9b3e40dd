import { laneRows } from "../../core/projections/overview.ts";
import { extendRecord, type IterationRecord } from "../../core/projections/history.ts";
import { few } from "../../core/text.ts";
import { tasksInScope } from "../../core/loop/task-status.ts";
import { outsideWaits } from "../../core/loop/outcome.ts";
import type { CliContext } from "../commands.ts";
import { eventLines } from "./event-lines.ts";
import { REWRITE, styleFor, type Style } from "./style.ts";
import type { Recorded, RunId } from "../../core/events.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import type { Task, TaskId } from "../../core/plan/task.ts";
import { isoTime, type Instant, formatDuration } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { Follower, Progress } from "../../engine/ports.ts";

/** Shows a run while it happens. */
export interface RunPrinter extends Follower {
  progress(progress: Progress): void;
  /** What the agent prints, when the person wants to see it. */
  output(text: string, iteration: number): void;
  /** Before anything else is printed, and at the end. */
  rest(): void;
}

export type Write = (text: string) => void;

/** `--json`: every event on a line of its own. */
export function jsonPrinter(write: Write): RunPrinter {
  return {
    follow: (event) => {
      write(`${JSON.stringify(toWire(event))}\n`);
      return Promise.resolve();
    },
    progress: () => {},
    output: () => {},
    rest: () => {},
  };
}

export function quietPrinter(): RunPrinter {
  return { follow: () => Promise.resolve(), progress: () => {}, output: () => {}, rest: () => {} };
}

/** For a file or a pipe: one plain line per fact, with the time. */
export function plainPrinter(write: Write, style: Style): RunPrinter {
  const told = new RunLines(style);
  const { lanes } = told;
  return {
    follow: (event, state) => {
      const lines = told.of(event, state);
      if (event.type === "iteration.ended") write(lanes.rest(event.iteration));
      for (const line of lines) if (line !== "") write(`${isoTime(event.at).slice(11, 19)} ${line}\n`);
      return Promise.resolve();
    },
    progress: () => {},
    output: (text, iteration) => write(lanes.quoted(text, iteration)),
    rest: () => {},
  };
}

/** For a terminal: lasting lines, and one that is rewritten while the agent works. */
export function terminalPrinter(stream: NodeJS.WriteStream, style: Style): RunPrinter {
  const live = new LiveLine(stream, style);
  const told = new RunLines(style);
  const { lanes } = told;
  const follow: RunPrinter["follow"] = (event, state) => {
    const lines = told.of(event, state);
    if (event.type === "verdict.reached" || event.type === "run.ended") live.stop();
    live.clear();
    const rest = event.type === "iteration.ended" ? lanes.rest(event.iteration) : "";
    if (rest !== "") stream.write(style.dim(rest));
    for (const line of lines) stream.write(`${line}\n`);
    if (event.type === "iteration.started") live.show("starting");
    if (event.type === "wait.started") live.show(() => countdown(event.until));
    const checking = checkingText(event, state);
    if (checking !== "") live.show(checking);
    return Promise.resolve();
  };
  return {
    follow,
    progress: (progress) => live.show(`${lanes.of(progress.task)}${progressText(progress)}`),
    output: (text, iteration) => {
      live.clear();
      stream.write(style.dim(lanes.quoted(text, iteration)));
    },
    rest: () => live.stop(),
  };
}

/** Who is asked next about an iteration that has ended. */
function checkingText(event: Recorded, state: State): string {
  if (!("iteration" in event)) return "";
  return laneRows(state).find(({ work }) => work?.iteration === event.iteration)?.work?.says ?? "";
}

function countdown(until: Instant | null): string {
  if (until === null) return "waiting for you · Ctrl-C ends the run";
  return `${formatDuration(Math.max(0, until - Date.now()))} left · r: try now`;
}

export function progressText(progress: Progress): string {
  const time = `${formatDuration(progress.elapsedMs)} / ${formatDuration(progress.timeoutMs)}`;
  const calls = progress.toolCalls > 0 ? ` · ${progress.toolCalls} tool calls` : "";
  return `${time}${calls}  ${progress.lastLine}`;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;

/** One line at the bottom of a terminal that is rewritten in place while an iteration runs. */
export class LiveLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #style: Style;
  #text: string | (() => string) | null = null;
  #frame = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(stream: NodeJS.WriteStream, style: Style) {
    this.#stream = stream;
    this.#style = style;
  }

  /** Plain text, or what tells it anew each time: it is cut to the width of the terminal before it is coloured. */
  show(text: string | (() => string)): void {
    this.#text = text;
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
    this.#draw();
  }

  /** Takes the line away, so that something lasting can be printed in its place. */
  clear(): void {
    if (this.#text !== null) this.#stream.write(REWRITE);
  }

  stop(): void {
    this.clear();
    this.#text = null;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #draw(): void {
    if (this.#text === null) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const text = typeof this.#text === "string" ? this.#text : this.#text();
    const line = `  ${FRAMES[this.#frame]} ${text}`;
    const width = (this.#stream.columns || 80) - 1; // some terminals say 0
    this.#stream.write(`${REWRITE}${this.#style.dim(clip(line, width))}`);
  }
}

/** Made when the first line is drawn: it is slow, and only a terminal needs it. */
let characters: Intl.Segmenter | null = null;

function clip(text: string, width: number): string {
  characters ??= new Intl.Segmenter();
  return Array.from(characters.segment(text), ({ segment }) => segment)
    .slice(0, width)
    .join("");
}

/** How a command shows a run: as data, not at all, to a person in front of it, or to one who reads it later. */
export function printerFor(
  flags: { readonly json?: boolean; readonly quiet?: boolean },
  { stdout, env }: CliContext,
): RunPrinter {
  const style = styleFor(stdout, env);
  if (flags.json === true) return jsonPrinter((text) => stdout.write(text));
  if (flags.quiet === true) return quietPrinter();
  return stdout.isTTY ? terminalPrinter(stdout, style) : plainPrinter((text) => stdout.write(text), style);
}

/** The facts of a run, one after the other, as lines for a person. */
export class RunLines {
  readonly lanes = new LanePrefixes();
  readonly #style: Style;
  readonly #open = new Map<number, IterationRecord>();
  readonly #plan: PlanNews;

  constructor(style: Style) {
    this.#style = style;
    this.#plan = new PlanNews(style);
  }

  of(event: Recorded, state: State): readonly string[] {
    const record = "iteration" in event ? extendRecord(this.#open.get(event.iteration), event) : undefined;
    if (record !== undefined) this.#open.set(record.iteration, record);
    if (event.type === "verdict.reached") this.#open.delete(event.iteration);
    this.lanes.see(event, state);
    const prefix = "task" in event && event.task !== null ? this.lanes.of(event.task) : "";
    const lines = this.#plan.isBegun(event) ? [] : eventLines(event, state, record, this.#style, prefix);
    return [...lines, ...this.#plan.of(event, state)];
  }
}

/** What a person does not know yet of the tasks, after the headline of the run has told the most of it. */
class PlanNews {
  readonly #style: Style;
  #run: RunId | null = null;
  #tasks: readonly Task[] = [];
  #waits: readonly string[] = [];

  constructor(style: Style) {
    this.#style = style;
  }

  /** Whether the headline of the run was shown before this fact. */
  isBegun(event: Recorded): boolean {
    return event.type === "tasks.observed" && event.run === this.#run;
  }

  of(event: Recorded, state: State): readonly string[] {
    if (event.type !== "tasks.observed" && event.type !== "run.resumed") return [];
    const { run, plan } = state;
    if (run === null || plan === null) return [];
    const tasks = tasksInScope(run, plan);
    const waits = outsideWaits(state, run, plan);
    const changes = this.isBegun(event) ? this.#changes(tasks, plan.source.label, state) : [];
    const isNew = event.run !== this.#run;
    const news = waits.filter((wait) => isNew || !this.#waits.includes(wait));
    this.#run = event.run;
    this.#tasks = tasks;
    this.#waits = waits;
    return [...changes, ...news.map((wait) => this.#style.ask(`! ${wait}`))];
  }

  #changes(tasks: readonly Task[], source: string, state: State): readonly string[] {
    const added = withoutThose(tasks, this.#tasks);
    // What is marked and gone is forgotten: it was done.
    const gone = withoutThose(this.#tasks, tasks).filter(
      (id) => Object.hasOwn(state.tasks, id) && taskState(state, id).completion === null,
    );
    return [
      ...(added.length === 0 ? [] : [`  + new in ${source}: ${few(added)}`]),
      ...(gone.length === 0 ? [] : [`  - gone from ${source}: ${few(gone)}`]),
    ];
  }
}

/** The ids of those to do in one list that are not in the other. */
function withoutThose(tasks: readonly Task[], others: readonly Task[]): readonly TaskId[] {
  const ids = new Set(others.map(({ id }) => id));
  return tasks.filter(({ id, done }) => !done && !ids.has(id)).map(({ id }) => id);
}

/** Says to which lane a line belongs: with several of them the order no longer tells. With one it says nothing. */
class LanePrefixes {
  readonly #lanes = new Map<TaskId, number>();
  readonly #tasks = new Map<number, TaskId>();
  /** What an agent has begun to print, by iteration. */
  readonly #begun = new Map<number, string>();
  #areMany = false;

  see(event: Recorded, { run }: State): void {
    this.#areMany = (run?.settings.lanes ?? 1) > 1;
    if (event.type !== "iteration.started") return;
    this.#lanes.set(event.task, event.lane);
    this.#tasks.set(event.iteration, event.task);
  }

  of(task: TaskId): string {
    if (!this.#areMany) return "";
    const lane = this.#lanes.get(task);
    return lane === undefined ? `[${task}] ` : `[${lane} ${task}] `;
  }

  ofIteration(iteration: number): string {
    return this.of(this.#tasks.get(iteration) ?? "");
  }

  /** The agent's words, set apart from ours; those of several agents line by line. */
  quoted(text: string, iteration: number): string {
    if (!this.#areMany) return quoted(text);
    const [last = "", ...lines] = `${this.#begun.get(iteration) ?? ""}${text}`.split("\n").toReversed();
    this.#begun.set(iteration, last);
    const prefix = this.ofIteration(iteration);
    return lines
      .toReversed()
      .map((line) => `  ${prefix}│ ${line}\n`)
      .join("");
  }

  /** The end of what it printed, if that is no whole line. */
  rest(iteration: number): string {
    const begun = this.#begun.get(iteration) ?? "";
    this.#begun.delete(iteration);
    return begun === "" ? "" : `  ${this.ofIteration(iteration)}│ ${begun}\n`;
  }
}

/** The words of the only agent that runs. */
export function quoted(text: string): string {
  return text.replace(/^/gm, "  │ ").replace(/ {2}│ $/, "");
}
