import { isOpen } from "../core/loop/state.ts";
import type { Journal } from "../engine/journal.ts";
import type { Ports } from "../engine/ports.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;

/**
 * Once: the agent is asked to stop and the iteration is recorded. Twice: at once; what is open is recorded as
 * interrupted by the next run. Answers what takes the handlers away again.
 */
export function onInterrupt(journal: Journal, ports: Ports, stderr: NodeJS.WriteStream): () => void {
  let asked = false;
  const handle = (): void => {
    if (asked) {
      void leaveAtOnce(journal, ports);
      return;
    }
    asked = true;
    stderr.write("ralph: stopping, the iteration will be recorded (again: stop at once)\n");
    const { run } = journal.state;
    if (isOpen(run))
      void journal
        .record({ type: "stop.requested", run: run.id, urgency: "now" })
        .catch(() => leaveAtOnce(journal, ports));
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return () => {
    for (const signal of SIGNALS) process.off(signal, handle);
  };
}

async function leaveAtOnce(journal: Journal, ports: Ports): Promise<never> {
  await Promise.all(journal.state.iterations.map((open) => ports.agents.sweep(open.marker)));
  process.exit(INTERRUPTED);
}
