import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../engine/ports.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    // An aborted sleep is simply over.
    delay(ms, undefined, { signal }).catch(() => {}),
};
