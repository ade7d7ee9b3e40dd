import { asArgument } from "../text.ts";
import type { EventOf, Recorded } from "../events.ts";
import { forecast } from "../loop/brakes.ts";
import { type State, taskState } from "../state.ts";
import { isMergeHeld, statusOf, tasksInScope } from "../loop/task-status.ts";
import type { Task } from "../plan.ts";
import { asSentence } from "../views/explain-words.ts";
import { explainRun, taskSteps, waitOf } from "../views/explain.ts";
import {
  type IterationRow,
  iterationRecords,
  iterationRows,
  sumOf,
  tokensOf,
} from "../views/iteration-record.ts";
import { type BlockedTask, type InboxItem, inboxOf } from "../views/inbox.ts";
import { type Charts, chartsOf, type RunEntry, runList } from "../views/run-list.ts";
import { type Timeline, timelineOf } from "../views/timeline.ts";
import type { Usage } from "../streams/agent-report.ts";
import { elapsedMs, type Instant } from "../time.ts";
import type { Certificate } from "../verdict/certificate.ts";
import type { Ruling } from "../verdict/verdict.ts";

/** Everything that a report tells about one run. */
export interface RunReport {
  readonly project: string;
  readonly run: RunEntry;
  /** Of a run without an end: whether a process still works on it. */
  readonly isDriven: boolean;
  /** False: others came after it, and what waited then may be settled. */
  readonly isLatest: boolean;
  readonly madeAt: Instant;
  readonly madeBy: string;
  readonly durationMs: number;
  /** Of the tasks that it was to work on. */
  readonly done: number;
  readonly all: number;
  /** Iterations that did not tell what they cost. */
  readonly unpriced: number;
  readonly costPerTaskUsd: number | null;
  readonly waiting: readonly Waiting[];
  /** What to type about the run as a whole. */
  readonly next: string | null;
  readonly timeline: Timeline;
  readonly charts: Charts;
  readonly rows: readonly IterationRow[];
  readonly tasks: readonly TaskReport[];
  readonly costs: readonly CostRow[];
}

/** What a report is made from. */
export interface ReportSources {
  readonly run: string;
  /** From the run's start to its end, of the latest run until now. */
  readonly events: readonly Recorded[];
  /** After the last of them. */
  readonly state: State;
  /** What would help the tasks that are blocked in that state. */
  readonly blocked: readonly BlockedTask[];
  readonly project: string;
  readonly isDriven: boolean;
  readonly isLatest: boolean;
  readonly now: Instant;
  readonly version: string;
}

/** Null when the events know of no such run. */
export function runReport(sources: ReportSources): RunReport | null {
  const { events, state, project, isDriven, isLatest, now, version, blocked } = sources;
  const rows = iterationRows(events);
  const run = runList(events, rows).find(({ id }) => id === sources.run);
  const timeline = timelineOf(events, sources.run);
  if (run === undefined || timeline === null) return null;
  const scope = state.run === null || state.plan === null ? [] : tasksInScope(state.run, state.plan);
  const done = scope.filter((task) => statusOf(state, task) === "done").length;
  const until = run.endedAt ?? (isDriven ? now : (events.at(-1)?.at ?? now));
  const around = {
    budgetUsd: state.run?.settings.limits.budget.run ?? null,
    forecastUsd: state.run === null ? null : forecast(state.run.spend, done, scope.length),
    now: until,
  };
  return {
    project,
    run,
    isDriven,
    isLatest,
    madeAt: now,
    madeBy: `ralph ${version}`,
    durationMs: elapsedMs(run.startedAt, until),
    done,
    all: scope.length,
    unpriced: rows.filter(({ durationMs, costUsd }) => durationMs !== null && costUsd === null).length,
    costPerTaskUsd: run.costUsd === null || run.accepted === 0 ? null : run.costUsd / run.accepted,
    waiting: waitingForPerson(state, blocked),
    next: isLatest ? explainRun(state, isDriven).next : null,
    timeline,
    charts: chartsOf(rows, around),
    rows,
    tasks: taskReports(events, state, scope, isDriven),
    costs: costRows(events),
  };
}

/** What one agent cost on one task. */
export interface CostRow {
  readonly task: string;
  readonly agent: string;
  readonly iterations: number;
  readonly durationMs: number;
  /** Null: nobody told. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
}

/** In the order in which they began to work. A second reader has a row of its own, without iterations. */
export function costRows(events: readonly Recorded[]): readonly CostRow[] {
  const rows = new Map<string, CostRow>();
  const agents = new Map<number, string>();
  const add = (task: string, agent: string, more: (row: CostRow) => Partial<CostRow>): void => {
    const key = JSON.stringify([task, agent]);
    const row = rows.get(key) ?? { task, agent, ...NOTHING };
    rows.set(key, { ...row, ...more(row) });
  };
  for (const event of events) {
    if (event.type === "iteration.started") {
      agents.set(event.iteration, event.agent);
      add(event.task, event.agent, ({ iterations }) => ({ iterations: iterations + 1 }));
    }
    const agent = "iteration" in event ? agents.get(event.iteration) : undefined;
    if (agent === undefined) continue;
    if (event.type === "iteration.ended") add(event.task, agent, spent(event.report));
    if (event.type === "reader.answered") add(event.task, event.reading.agent, spent(event.reading));
  }
  return [...rows.values()];
}

function spent({ durationMs, usage }: { readonly durationMs: number; readonly usage: Usage }) {
  return (row: CostRow): Partial<CostRow> => ({
    durationMs: row.durationMs + durationMs,
    tokens: sumOf(row.tokens, tokensOf(usage)),
    costUsd: sumOf(row.costUsd, usage.costUsd),
  });
}

const NOTHING = { iterations: 0, durationMs: 0, tokens: null, costUsd: null };

/** What a run did for one task. */
export interface TaskReport {
  readonly id: string;
  /** Null when it is no longer in the source. */
  readonly title: string | null;
  readonly status: string | null;
  /** Where it stands, as a sentence that begins with its id. */
  readonly stands: string;
  /** Empty: the run did not come to it. */
  readonly steps: readonly ReportStep[];
  readonly acceptance: Acceptance | null;
}

/** An iteration, or something that happened between two. */
export interface ReportStep {
  readonly iteration: number | null;
  readonly verdict: Ruling | null;
  readonly text: string;
}

export interface Acceptance {
  readonly iteration: number;
  readonly commit: string | null;
  readonly certificate: Certificate;
}

/** In the order in which the run came to them, then those that it did not come to. */
export function taskReports(
  events: readonly Recorded[],
  state: State,
  scope: readonly Task[],
  isDriven: boolean,
): readonly TaskReport[] {
  const byTask = new Map<string, Recorded[]>();
  for (const event of events) {
    if (!("task" in event) || event.task === null) continue;
    const known = byTask.get(event.task);
    if (known === undefined) byTask.set(event.task, [event]);
    else known.push(event);
  }
  const begun = events.flatMap((event) => (event.type === "iteration.started" ? [event.task] : []));
  const ids = new Set([...begun, ...scope.map(({ id }) => id)]);
  return [...ids].map((id) => reportOf(id, byTask.get(id) ?? [], state, isDriven));
}

function reportOf(id: string, events: readonly Recorded[], state: State, isDriven: boolean): TaskReport {
  const planned = state.plan?.tasks.find((task) => task.id === id);
  const source = state.plan?.source.label ?? "the task list";
  const completed = events.findLast((event) => event.type === "task.completed");
  return {
    id,
    title: planned?.title ?? null,
    status: planned === undefined ? null : statusOf(state, planned),
    stands:
      planned === undefined
        ? `${id} is no longer in ${source}.`
        : `${id} ${asSentence(waitOf(state, planned, isDriven).what)}`,
    steps: shortened(id, stepsOf(events)),
    acceptance: completed === undefined ? null : acceptanceOf(completed),
  };
}

const FIRST_STEPS = 10;
const LAST_STEPS = 50;

/** Of very many steps, how it began and how it ended. */
function shortened(id: string, steps: readonly ReportStep[]): readonly ReportStep[] {
  const left = steps.length - FIRST_STEPS - LAST_STEPS;
  if (left <= 1) return steps;
  const text = `${left} more steps lie between; every iteration: ralph history --task ${asArgument(id)}`;
  return [
    ...steps.slice(0, FIRST_STEPS),
    { iteration: null, verdict: null, text },
    ...steps.slice(-LAST_STEPS),
  ];
}

function stepsOf(events: readonly Recorded[]): readonly ReportStep[] {
  return taskSteps(events, iterationRecords(events)).map(({ record, text }) => ({
    iteration: record?.iteration ?? null,
    verdict: record?.verdict ?? null,
    text,
  }));
}

function acceptanceOf({ iteration, commit, certificate }: EventOf<"task.completed">): Acceptance {
  return { iteration, commit, certificate };
}

/** Something that waits for a person, and what to type. */
export interface Waiting {
  readonly task: string;
  readonly is: "question" | "blocked";
  readonly text: string;
  /** Options of a question, its default; what to do before the command. Empty: nothing more to say. */
  readonly more: string;
  readonly command: string;
}

export function waitingForPerson(state: State, blocked: readonly BlockedTask[]): readonly Waiting[] {
  // Workers hear of it and go on by themselves.
  const then = state.run?.settings.shared === true ? "" : " && ralph run";
  return inboxOf(state).map((item) => {
    if (item.kind === "decide") return questionOf(item, then);
    const help = blocked.find(({ id }) => id === item.task);
    // Unblocking it merges it.
    return blockedOf(item, help, isMergeHeld(taskState(state, item.task)) ? "" : then);
  });
}

function questionOf({ task, text, options, default: answer, deadline }: InboxItem, then: string): Waiting {
  const choice = options.length === 0 ? "" : `Options: ${options.join(", ")}.`;
  const otherwise =
    answer === null || deadline === null ? "" : `From ${deadline} on the answer is "${answer}".`;
  return {
    task,
    is: "question",
    text,
    more: [choice, otherwise].filter((part) => part !== "").join(" "),
    command: `ralph decide ${asArgument(task)} ${asArgument(options[0] ?? "your answer")}${then}`,
  };
}

function blockedOf({ task, text }: InboxItem, help: BlockedTask | undefined, then: string): Waiting {
  const first = help?.first ?? null;
  return {
    task,
    is: "blocked",
    text: help?.why ?? text,
    more: first === null ? "" : `First: ${first}.`,
    command: `${help?.command ?? `ralph unblock ${asArgument(task)}`}${then}`,
  };
}
