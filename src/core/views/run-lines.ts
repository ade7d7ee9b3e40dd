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
import { type IterationRecord, keepRecord } from "./iteration-record.ts";
import { OUTCOME_WORDS } from "./signs.ts";
import { scopeOf } from "./status.ts";

/** The facts of a run, one after the other, as lines for a person. */
export class RunLines {
  readonly lanes = new LanePrefixes();
  readonly #style: Style;
  readonly #open = new Map<number, IterationRecord>();
  /** What a person knows of the tasks: the headline of the run has told the most of it. */
  #told: { readonly run: RunId; readonly tasks: readonly Task[]; readonly waits: readonly string[] } | null =
    null;

  constructor(style: Style) {
    this.#style = style;
  }

  of(event: Recorded, state: State): readonly string[] {
    const record = keepRecord(this.#open, event);
    if (event.type === "verdict.reached") this.#open.delete(event.iteration);
    this.lanes.see(event, state);
    const prefix = "task" in event && event.task !== null ? this.lanes.of(event.task) : "";
    const hasHeadline = event.type === "tasks.observed" && event.run === this.#told?.run;
    const lines = hasHeadline ? [] : eventLines(event, state, record, this.#style, prefix);
    return [...lines, ...this.#news(event, state, hasHeadline)];
  }

  /** What is new of the tasks, after the headline. */
  #news(event: Recorded, state: State, hasHeadline: boolean): readonly string[] {
    if (event.type !== "tasks.observed" && event.type !== "run.resumed") return [];
    const { run, plan } = state;
    if (run === null || plan === null) return [];
    const tasks = tasksInScope(run, plan);
    const waits = outsideWaits(state, run, plan);
    const known = event.run === this.#told?.run ? this.#told : null;
    this.#told = { run: event.run, tasks, waits };
    const before = hasHeadline && known !== null ? known.tasks : tasks;
    const added = withoutThose(tasks, before);
    // What is marked and gone is forgotten: it was done.
    const gone = withoutThose(before, tasks).filter(
      (id) => Object.hasOwn(state.tasks, id) && taskState(state, id).completion === null,
    );
    const news = waits.filter((wait) => known?.waits.includes(wait) !== true);
    return [
      ...(added.length === 0 ? [] : [`  + new in ${plan.source.label}: ${few(added)}`]),
      ...(gone.length === 0 ? [] : [`  - gone from ${plan.source.label}: ${few(gone)}`]),
      ...news.map((wait) => this.#style.ask(`! ${wait}`)),
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
