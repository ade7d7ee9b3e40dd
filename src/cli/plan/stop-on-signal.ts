const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;

export interface StopOnSignal {
  readonly signal: AbortSignal;
  /** Takes the handlers away again. */
  release(): void;
}

/** Once: whoever works is asked to stop. Twice: at once, after `leave`. */
export function stopOnSignal(stderr: NodeJS.WriteStream, leave: () => Promise<unknown>): StopOnSignal {
  const controller = new AbortController();
  const handle = (): void => {
    if (controller.signal.aborted) {
      void leave().finally(() => process.exit(INTERRUPTED));
      return;
    }
    stderr.write("ralph: stopping (again: stop at once)\n");
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return {
    signal: controller.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, handle);
    },
  };
}
