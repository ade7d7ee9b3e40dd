import type { PastIteration } from "./past-iterations.ts";
import { savingOf, type Saving } from "./saving.ts";

/** What one value of a limit would have done. */
export interface LimitValue {
  readonly value: number;
  /** Loops that it would have ended sooner, and that came to nothing anyway: what came after is saved. */
  readonly endedInTime: number;
  readonly saved: Saving;
  /** Loops that it would have ended, and that completed their task after all. */
  readonly tasksLost: number;
}

export interface LimitFinding {
  /** As it stands in the configuration. */
  readonly setting: string;
  readonly what: string;
  /** What the last run had. */
  readonly current: number | null;
  /** Those that would have changed anything. */
  readonly values: readonly LimitValue[];
  /** The value that saves most and loses no task; null when nothing would be gained. */
  readonly best: number | null;
}

const MOST = 6;

export interface LimitQuestion {
  readonly setting: string;
  readonly what: string;
  readonly current: number | null;
  /** Whether an iteration counts towards the limit; null: it neither counts nor breaks a row. */
  readonly counts: (iteration: PastIteration) => boolean | null;
}

/** Goes through every loop again under each value of the limit. */
export function limitFinding(past: readonly PastIteration[], question: LimitQuestion): LimitFinding {
  const { setting, what, current } = question;
  const loops = loopsOf(past);
  const values = Array.from({ length: MOST }, (_, index) => limitValue(loops, index + 1, question)).filter(
    ({ endedInTime, tasksLost }) => endedInTime + tasksLost > 0,
  );
  const harmless = values.filter(({ tasksLost, saved }) => tasksLost === 0 && saved.iterations > 0);
  const best = harmless.toSorted((a, b) => b.saved.iterations - a.saved.iterations)[0];
  return { setting, what, current, values, best: best?.value ?? null };
}

/** The iterations of one task that are counted together: a new run, a new stage, another agent, a person begins anew. */
function loopsOf(past: readonly PastIteration[]): readonly (readonly PastIteration[])[] {
  const loops = Map.groupBy(past, ({ run, loop, task }) => `${run} ${loop} ${task}`);
  return [...loops.values()];
}

function limitValue(
  loops: readonly (readonly PastIteration[])[],
  value: number,
  { counts }: LimitQuestion,
): LimitValue {
  const cut = loops
    .map((loop) => loop.slice(endUnder(loop, value, counts)))
    .filter((rest) => rest.length > 0);
  const lost = cut.filter((rest) => rest.some(({ isCompleted }) => isCompleted));
  const inTime = cut.filter((rest) => !lost.includes(rest));
  return { value, endedInTime: inTime.length, saved: savingOf(inTime.flat()), tasksLost: lost.length };
}

/** How many iterations the loop would have had. */
function endUnder(loop: readonly PastIteration[], limit: number, counts: LimitQuestion["counts"]): number {
  let inARow = 0;
  for (const [at, iteration] of loop.entries()) {
    const isCounted = counts(iteration);
    if (isCounted !== null) inARow = isCounted ? inARow + 1 : 0;
    if (inARow >= limit) return at + 1;
  }
  return loop.length;
}
