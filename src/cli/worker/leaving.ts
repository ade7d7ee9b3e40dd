import { EXIT_CODES } from "../../core/loop/outcome.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Leaving {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** What is done first when a second one comes. */
  atOnce(first: () => Promise<void>): void;
  release(): void;
}

/** Once: agents are asked to stop, what they did is recorded and pushed. Twice: at once; others go on when the lease is over. */
export function onLeaving(say: (text: string) => void): Leaving {
  const leaving = new AbortController();
  let first: () => Promise<void> = () => Promise.resolve();
  const handle = (): void => {
    if (leaving.signal.aborted) {
      void first().finally(() => process.exit(EXIT_CODES.stopped));
      return;
    }
    say("leaving; what the agents did will be recorded, and others go on with it (again: at once)");
    leaving.abort();
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return {
    signal: leaving.signal,
    atOnce: (act) => (first = act),
    release() {
      for (const signal of SIGNALS) process.off(signal, handle);
    },
  };
}
