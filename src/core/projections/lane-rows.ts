import { isOpen, type OpenIteration, type State } from "../loop/state.ts";
import type { Instant } from "../time.ts";

/** One lane of the run, and what goes on in it. */
export interface LaneRow {
  readonly lane: number;
  /** Null: nothing. */
  readonly work: LaneWork | null;
}

export interface LaneWork {
  readonly iteration: number;
  readonly task: string;
  readonly stage: string;
  readonly agent: string;
  readonly ordinal: number;
  readonly maxIterations: number;
  readonly startedAt: Instant;
  readonly timeoutMs: number;
  /** Null where nobody shares the run. */
  readonly worker: string | null;
  /** What is under way: the agent, the look at its work, the gates. */
  readonly doing: "agent" | "evidence" | "gates" | "verdict";
}

/** Every lane of the open run in order; none without one. Of a run that workers share: those that are at work. */
export function laneRows({ run, iterations }: State): readonly LaneRow[] {
  if (!isOpen(run)) return [];
  if (run.settings.shared === true)
    return iterations
      .map((open) => ({ lane: open.lane, work: workOf(open) }))
      .toSorted((a, b) => a.lane - b.lane);
  return Array.from({ length: run.settings.lanes }, (_, index) => {
    const open = iterations.find(({ lane }) => lane === index + 1);
    return { lane: index + 1, work: open === undefined ? null : workOf(open) };
  });
}

function workOf(open: OpenIteration): LaneWork {
  const {
    number: iteration,
    task,
    stage,
    agent,
    ordinal,
    maxIterations,
    startedAt,
    timeoutMs,
    worker,
  } = open;
  const about = { iteration, task, stage, agent, ordinal, maxIterations, startedAt, timeoutMs, worker };
  return { ...about, doing: DOING[open.phase.is] };
}

const DOING: Readonly<Record<OpenIteration["phase"]["is"], LaneWork["doing"]>> = {
  running: "agent",
  ended: "evidence",
  observed: "gates",
  checked: "verdict",
};
