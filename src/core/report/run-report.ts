import { asArgument } from "../text.ts";
import type { Recorded, RunId } from "../events.ts";
import { forecast } from "../loop/brakes.ts";
import { taskOf } from "../loop/evolve.ts";
import { type State, taskState } from "../state.ts";
import { isMergeHeld, statusOf } from "../loop/task-status.ts";
import type { Task, TaskId } from "../plan.ts";
import { explainRun, standsInWords, taskSteps, type TaskStep } from "../views/explain.ts";
import { iterationRecords, iterationRow, sumOf, tokensOf } from "../views/iteration-record.ts";
import { type BlockedTask, inboxOf, type InboxItem } from "../views/inbox.ts";
import { chartsOf, runList } from "../views/run-list.ts";
import { scopeOf } from "../views/status.ts";
import { timelineOf } from "../views/timeline.ts";
import type { Usage } from "../streams/agent-report.ts";
import { elapsedMs, type Instant } from "../time.ts";

/** What a report is made from. */
export interface ReportSources {
  readonly run: RunId;
  /** From the run's start to its end, of the latest run until now. */
  readonly events: readonly Recorded[];
  /** After the last of them. */
  readonly state: State;
  /** What would help the tasks that are blocked in that state. */
  readonly blocked: readonly BlockedTask[];
  readonly project: string;
  /** Of a run without an end: whether a process still works on it. */
  readonly isDriven: boolean;
  /** False: others came after it, and what waited then may be settled. */
  readonly isLatest: boolean;
  readonly now: Instant;
  readonly version: string;
}

/** Everything that a report tells about one run. */
export type RunReport = NonNullable<ReturnType<typeof runReport>>;

/** Null when the events know of no such run. */
export function runReport(sources: ReportSources) {
  const { events, state, project, isDriven, isLatest, now, version, blocked } = sources;
  const rows = iterationRecords(events).map(iterationRow);
  const run = runList(events, rows).find(({ id }) => id === sources.run);
  const timeline = timelineOf(events, sources.run);
  if (run === undefined || timeline === null) return null;
  const { tasks, done } = scopeOf(state);
  const until = run.endedAt ?? (isDriven ? now : (events.at(-1)?.at ?? now));
  const around = {
    budgetUsd: state.run?.settings.limits.budget.run ?? null,
    forecastUsd: state.run === null ? null : forecast(state.run.spend, done, tasks.length),
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
    /** Of the tasks that it was to work on. */
    done,
    all: tasks.length,
    /** Iterations that did not tell what they cost. */
    unpriced: rows.filter(({ durationMs, costUsd }) => durationMs !== null && costUsd === null).length,
    costPerTaskUsd: run.costUsd === null || run.accepted === 0 ? null : run.costUsd / run.accepted,
    waiting: inboxOf(state).map((item) => waitingFor(item, state, blocked)),
    /** What to type about the run as a whole. */
    next: isLatest ? explainRun(state, isDriven).next : null,
    timeline,
    charts: chartsOf(rows, around),
    rows,
    tasks: taskReports(events, state, tasks, isDriven),
    costs: costRows(events),
  };
}

/** What each agent cost on each task. A second reader has a row of its own, without iterations. */
export function costRows(events: readonly Recorded[]) {
  const parts = iterationRecords(events).flatMap(({ task, agent, report, reading }) => [
    costRow(task, agent, 1, report),
    ...(reading === null ? [] : [costRow(task, reading.agent, 0, reading)]),
  ]);
  const groups = Map.groupBy(parts, ({ task, agent }) => JSON.stringify([task, agent]));
  return [...groups.values()].map((own) =>
    own.reduce((sum, more) => ({
      ...sum,
      iterations: sum.iterations + more.iterations,
      durationMs: sum.durationMs + more.durationMs,
      tokens: sumOf(sum.tokens, more.tokens),
      costUsd: sumOf(sum.costUsd, more.costUsd),
    })),
  );
}

/** What nobody told is null. */
function costRow(
  task: TaskId,
  agent: string,
  iterations: number,
  spent: { readonly durationMs: number; readonly usage: Usage } | null,
) {
  const { durationMs = 0, usage } = spent ?? {};
  const tokens = usage === undefined ? null : tokensOf(usage);
  return { task, agent, iterations, durationMs, tokens, costUsd: usage?.costUsd ?? null };
}

/** What a run did for one task. */
export type TaskReport = ReturnType<typeof taskReports>[number];

/** In the order in which the run came to them, then those that it did not come to. */
function taskReports(events: readonly Recorded[], state: State, scope: readonly Task[], isDriven: boolean) {
  const byTask = Map.groupBy(events, taskOf);
  const begun = events.flatMap((event) => (event.type === "iteration.started" ? [event.task] : []));
  const ids = new Set([...begun, ...scope.map(({ id }) => id)]);
  return [...ids].map((id) => {
    const own = byTask.get(id) ?? [];
    const planned = state.plan?.tasks.find((task) => task.id === id);
    return {
      id,
      /** These two are null when it is no longer in the source. */
      title: planned?.title ?? null,
      status: planned === undefined ? null : statusOf(state, planned),
      stands: standsInWords(state, id, isDriven),
      /** Empty: the run did not come to it. */
      steps: shortened(id, taskSteps(own, iterationRecords(own))).map(({ record, text }) => ({
        iteration: record?.iteration ?? null,
        verdict: record?.verdict ?? null,
        text,
      })),
      acceptance: own.findLast((event) => event.type === "task.completed") ?? null,
    };
  });
}

const FIRST_STEPS = 10;
const LAST_STEPS = 50;

/** Of very many steps, how it began and how it ended. */
function shortened(id: TaskId, steps: readonly TaskStep[]): readonly TaskStep[] {
  const left = steps.length - FIRST_STEPS - LAST_STEPS;
  if (left <= 1) return steps;
  const text = `${left} more steps lie between; every iteration: ralph history --task ${asArgument(id)}`;
  return [...steps.slice(0, FIRST_STEPS), { record: null, text }, ...steps.slice(-LAST_STEPS)];
}

/** Something that waits for a person, and what to type. */
export type Waiting = ReturnType<typeof waitingFor>;

function waitingFor(item: InboxItem, state: State, blocked: readonly BlockedTask[]) {
  const { task, text, options, default: answer, deadline } = item;
  // Workers hear of it and go on by themselves.
  const then = state.run?.settings.shared === true ? "" : " && ralph run";
  if (item.kind === "decide") {
    const choice = options.length === 0 ? "" : `Options: ${options.join(", ")}.`;
    const otherwise =
      answer === null || deadline === null ? "" : `From ${deadline} on the answer is "${answer}".`;
    const command = `ralph decide ${asArgument(task)} ${asArgument(options[0] ?? "your answer")}${then}`;
    return { task, is: "question", text, more: `${choice} ${otherwise}`.trim(), command } as const;
  }
  const help = blocked.find(({ id }) => id === task);
  const command = help?.command ?? `ralph unblock ${asArgument(task)}`;
  return {
    task,
    is: "blocked",
    text: help?.why ?? text,
    more: help?.first == null ? "" : `First: ${help.first}.`,
    // Unblocking it merges it.
    command: `${command}${isMergeHeld(taskState(state, task)) ? "" : then}`,
  } as const;
}
