import type { EventOf } from "../events.ts";
import type { TaskId } from "../plan.ts";
import type { Facts, Folds, OpenIteration, State } from "../state.ts";
import { wasCutOff, type AgentReport } from "../streams/agent-report.ts";
import type { Instant } from "../time.ts";

/** A message of the operator's that waits for an agent to work from it. */
export interface Steer {
  readonly id: string;
  /** Null: whatever task comes next. */
  readonly task: TaskId | null;
  readonly text: string;
  readonly givenAt: Instant;
  /** The open iteration whose agent has it. */
  readonly carriedIn: number | null;
  /** Whether that agent got it while it ran, and not with its prompt. */
  readonly told: boolean;
  /** The iteration whose agent could not be told. */
  readonly deferredIn: number | null;
}

/** Of the whole section, with its heading. */
const SECTION_LENGTH_MAX = 4_000;
const HEADING = "## Message from the operator\n";
const GAP = "\n\n";

/** The longest message that fits into a prompt. */
export const STEER_LENGTH_MAX = SECTION_LENGTH_MAX - HEADING.length;

/** What a prompt says of these messages; empty when there are none. */
export function steerSection(messages: readonly Steer[]): string {
  return messages.length === 0 ? "" : `${HEADING}${messages.map(({ text }) => text).join(GAP)}`;
}

/** The messages that the next prompt of a task carries: the oldest first, as many as fit. */
export function steersFor(waiting: readonly Steer[], task: TaskId): readonly Steer[] {
  const meant = waiting.filter((steer) => isFor(steer, task));
  const fitting: Steer[] = [];
  for (const steer of meant) {
    if (steerSection([...fitting, steer]).length > SECTION_LENGTH_MAX) break;
    fitting.push(steer);
  }
  return fitting;
}

/** The message to give to the running agent of an iteration now; the order in which they were given is kept. */
export function steerToTell(
  waiting: readonly Steer[],
  { task, number }: Pick<OpenIteration, "task" | "number">,
): Steer | null {
  const next = waiting.find((steer) => isFor(steer, task));
  return next === undefined || next.deferredIn === number ? null : next;
}

/** What the agent of an iteration worked from. One that was cut off, or refused by its service, did not. */
export function steersUsed(
  steers: readonly Steer[],
  open: Pick<OpenIteration, "run" | "task" | "number">,
  report: AgentReport,
): readonly EventOf<"steer.used">[] {
  const { failure } = report;
  if (wasCutOff(report) || (failure !== null && failure.class !== "agent")) return [];
  const { run, task, number: iteration } = open;
  return steers
    .filter(({ carriedIn, told }) => carriedIn === iteration && !told)
    .map(({ id }) => ({ type: "steer.used", run, task, iteration, id, how: "prompt" }));
}

function isFor({ task, carriedIn }: Steer, id: TaskId): boolean {
  return carriedIn === null && (task === null || task === id);
}

export const steerFolds = {
  "steer.given": (state, { id, task, text, at }) => ({
    ...state,
    steers: [
      ...state.steers,
      { id, task, text, givenAt: at, carriedIn: null, told: false, deferredIn: null },
    ],
  }),
  /** What a prompt carried is settled; what a running agent was told is settled when its work is accepted. */
  "steer.used": (state, { id, task, iteration, how }) =>
    how === "prompt"
      ? { ...state, steers: state.steers.filter((steer) => steer.id !== id) }
      : withSteers(state, (steer) =>
          steer.id === id ? { ...steer, task, carriedIn: iteration, told: true } : steer,
        ),
  "steer.deferred": (state, { id, iteration }) =>
    withSteers(state, (steer) => (steer.id === id ? { ...steer, deferredIn: iteration } : steer)),
} satisfies Partial<Folds>;

function withSteers(state: State, change: (steer: Steer) => Steer): State {
  return { ...state, steers: state.steers.map(change) };
}

/** The prompt of an iteration carries what waits for its task. */
export function steersCarried(state: State, { task, iteration }: Facts["iteration.started"]): State {
  const carried = new Set(steersFor(state.steers, task).map(({ id }) => id));
  return withSteers(state, (steer) => (carried.has(steer.id) ? { ...steer, carriedIn: iteration } : steer));
}

/** What the next iteration has to know waits again: its agent remembers nothing. */
export function steersSettled(state: State, { iteration, verdict }: Facts["verdict.reached"]): State {
  const steers = state.steers.filter(
    ({ carriedIn, told }) => carriedIn !== iteration || !told || verdict !== "accepted",
  );
  return steersWaiting({ ...state, steers }, iteration);
}

/** Whatever the agent of this iteration had is for another one. */
export function steersWaiting(state: State, iteration: number): State {
  return withSteers(state, (steer) =>
    steer.carriedIn === iteration ? { ...steer, carriedIn: null, told: false } : steer,
  );
}
