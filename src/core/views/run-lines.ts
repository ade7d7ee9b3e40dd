import type { Recorded, RunId } from "../events.ts";
import { dollars } from "../loop/brakes.ts";
import { EXIT_CODES, outsideWaits } from "../loop/outcome.ts";
import { tasksInScope } from "../loop/task-status.ts";
import type { Task, TaskId } from "../plan.ts";
import { taskState, type State } from "../state.ts";
import { few, type Style } from "../text.ts";
import { elapsedMs, formatDuration } from "../time.ts";
import { eventLines } from "./event-lines.ts";
import { openProposals } from "./inbox.ts";
import { extendRecord, type IterationRecord } from "./iteration-record.ts";
import { OUTCOME_WORDS } from "./signs.ts";
import { scopeOf } from "./status.ts";

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

/** The lines printed at the end of a run. */
export function runSummary(state: State, logPath: string): readonly string[] {
  const { run } = state;
  if (run === null || run.end === null) return [];
  const { tasks, done } = scopeOf(state);
  const duration = elapsedMs(run.startedAt, run.end.at);
  const average = run.iterations === 0 ? "–" : formatDuration(duration / run.iterations);
  return [
    "Ralph Loop Summary",
    "──────────────────",
    `Exit:        ${OUTCOME_WORDS[run.end.outcome].summary} (code ${EXIT_CODES[run.end.outcome]})`,
    `Iterations:  ${run.iterations} / ${run.settings.limits.maxIterations}`,
    `Duration:    ${formatDuration(duration)}`,
    `Stories:     ${done}/${tasks.length} complete`,
    `Avg/iter:    ${average}`,
    `Stuck iters: ${run.stuckIterations}`,
    `Cost:        ${run.spend.usd === null ? "unknown" : dollars(run.spend.usd)}`,
    `Log:         ${logPath}`,
    ...proposalLine(openProposals(state).length),
  ];
}

function proposalLine(count: number): readonly string[] {
  const edits =
    count === 1 ? "1 edit of the task list by an agent" : `${count} edits of the task list by agents`;
  return count === 0 ? [] : [`Proposals:   ${edits}, undone; see: ralph tasks proposals`];
}
