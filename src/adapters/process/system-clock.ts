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
