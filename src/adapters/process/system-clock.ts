import type { Clock } from "../../engine/ports.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  // An aborted sleep is simply over: no error is made, as the timers of Node do, at every turn of the loop.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, signal.aborted ? 0 : ms);
      signal.addEventListener("abort", wake);
    }),
};

const last = new Map<string, Promise<unknown>>();

/** Does the work when all that was asked for under this key before is over, well or not. */
export async function inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const before = last.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  last.set(key, mine);
  try {
    return await mine;
  } finally {
    if (last.get(key) === mine) last.delete(key);
  }
}
