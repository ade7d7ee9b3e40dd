import type { EventOf, Recorded } from "../events.ts";
import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import type { Task } from "../plan/task.ts";
import { asArgument } from "../projections/blocked.ts";
import { iterationStories } from "../projections/explain-iteration.ts";
import { taskSteps } from "../projections/explain-task.ts";
import { waitOf } from "../projections/explain-waiting.ts";
import { asSentence } from "../projections/explain-words.ts";
import type { Certificate } from "../verdict/certificate.ts";
import type { Ruling } from "../verdict/verdict.ts";

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
  return [...ids].map((id) => reportOf(id, byTask.get(id) ?? [], state));
}

function reportOf(id: string, events: readonly Recorded[], state: State): TaskReport {
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
        : `${id} ${asSentence(waitOf(state, planned, false).what)}`,
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
  return taskSteps(events, iterationStories(events)).map(({ story, text }) => ({
    iteration: story?.record.iteration ?? null,
    verdict: story?.record.verdict ?? null,
    text,
  }));
}

function acceptanceOf({ iteration, commit, certificate }: EventOf<"task.completed">): Acceptance {
  return { iteration, commit, certificate };
}
