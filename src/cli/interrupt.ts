import { isOpen } from "../core/loop/state.ts";
import type { Journal } from "../engine/journal.ts";
import type { Ports } from "../engine/ports.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;

export interface Interrupt {
  /** The run is on record: whoever asked before that is heard now. */
  runBegan(): void;
  /** Takes the handlers away again. */
  release(): void;
}

/**
 * Once: the agent is asked to stop and the iteration is recorded. Twice: at once; what is open is recorded as
 * interrupted by the next run.
 */
export function onInterrupt(journal: Journal, ports: Ports, stderr: NodeJS.WriteStream): Interrupt {
  let asked = false;
  const handle = (): void => {
    if (asked) {
      void leaveAtOnce(journal, ports);
      return;
    }
    asked = true;
    stderr.write("ralph: stopping, the iteration will be recorded (again: stop at once)\n");
    requestStop();
  };
  let hasBegun = false;
  const requestStop = (): void => {
    const { run } = journal.state;
    if (hasBegun && isOpen(run))
      void journal
        .record({ type: "stop.requested", run: run.id, urgency: "now" })
        .catch(() => leaveAtOnce(journal, ports));
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return {
    runBegan() {
      hasBegun = true;
      if (asked) requestStop();
    },
    release() {
      for (const signal of SIGNALS) process.off(signal, handle);
    },
  };
}

/** The same for a program that drives a run itself: its signal is heard once, and nobody leaves the process. */
export function onAbort(journal: Journal, signal: AbortSignal): Interrupt {
  let hasBegun = false;
  const requestStop = (): void => {
    const { run } = journal.state;
    if (hasBegun && signal.aborted && isOpen(run))
      // A log that takes no facts any more ends the run by itself.
      void journal.record({ type: "stop.requested", run: run.id, urgency: "now" }).catch(() => {});
  };
  signal.addEventListener("abort", requestStop);
  return {
    runBegan() {
      hasBegun = true;
      requestStop();
    },
    release: () => signal.removeEventListener("abort", requestStop),
  };
}

async function leaveAtOnce(journal: Journal, ports: Ports): Promise<never> {
  await Promise.all(journal.state.iterations.map((open) => ports.agents.sweep(open.marker)));
  process.exit(INTERRUPTED);
}
