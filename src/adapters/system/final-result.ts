import type { Writable } from "node:stream";
import { afterPendingInput, startAwakeTimer, type AwakeTimer } from "./awake-timer.ts";

/** How a process that has given its final result comes to its end. */
export interface FinalResult {
  /** Asks whether it has; to be called after every output. */
  look(): void;
  isGiven(): boolean;
  cancel(): void;
}

/** After the final result nothing more is said to the process, and it has so long to exit by itself. */
export function awaitFinalResult(
  isOver: () => boolean,
  stdin: Writable | null,
  exitMs: number,
  onLate: () => void,
): FinalResult {
  let timer: AwakeTimer | null = null;
  let isCancelled = false;
  return {
    look() {
      if (isCancelled || timer !== null || !isOver()) return;
      stdin?.end();
      timer = startAwakeTimer(exitMs, () => afterPendingInput(onLate));
    },
    isGiven: () => timer !== null,
    cancel() {
      isCancelled = true;
      timer?.cancel();
    },
  };
}
