import type { PastIteration } from "./past-iterations.ts";

/** What the next iteration did after so many of a kind in a row. */
export interface RecoveryFinding {
  readonly setting: string;
  readonly what: string;
  readonly current: number | null;
  readonly after: readonly { readonly inARow: number; readonly times: number; readonly recovered: number }[];
}

export interface RecoveryQuestion {
  readonly setting: string;
  readonly what: string;
  readonly current: number | null;
  readonly isBad: (iteration: PastIteration) => boolean;
}

const MOST = 4;

/** Whether agents came to their senses by themselves, and after how much. */
export function recoveryFinding(
  past: readonly PastIteration[],
  { setting, what, current, isBad }: RecoveryQuestion,
): RecoveryFinding {
  const tasks = [...Map.groupBy(past, ({ task }) => task).values()];
  const followed = tasks.flatMap((task) => {
    let inARow = 0;
    return task.slice(0, -1).flatMap((iteration, at) => {
      inARow = isBad(iteration) ? inARow + 1 : 0;
      const next = task[at + 1];
      return inARow === 0 || next === undefined ? [] : [{ inARow, isRecovered: isBetter(next, isBad) }];
    });
  });
  const after = Array.from({ length: MOST }, (_, index) => {
    const those = followed.filter(({ inARow }) => inARow === index + 1);
    const recovered = those.filter(({ isRecovered }) => isRecovered).length;
    return { inARow: index + 1, times: those.length, recovered };
  });
  return { setting, what, current, after: after.filter(({ times }) => times > 0) };
}

/** One that crashes has made no mistake of this kind, and is no better. */
function isBetter(iteration: PastIteration, isBad: RecoveryQuestion["isBad"]): boolean {
  return !isBad(iteration) && (iteration.wroteFiles || iteration.isAccepted);
}
