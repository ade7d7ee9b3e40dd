import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "./store-error.ts";

/**
 * Does the work once no other connection is in the way. It waits between the attempts and not inside SQLite, so
 * that timers, kills and heartbeats go on meanwhile. The deadline is one of `performance.now()`.
 */
export async function untilFree<Result>(work: () => Result, deadline: number): Promise<Result> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    // Random, so that several that wait do not meet again.
    await sleep(5 + Math.random() * 40);
  }
}
