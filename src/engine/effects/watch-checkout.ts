import type { EventOf } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

type Started = EventOf<"iteration.started">;

/** Looks at the user's checkout before an agent works beside it; the answer tells what somebody did there meanwhile. */
export async function watchCheckout(
  { run, task, iteration }: Started,
  { beside }: Ports,
  journal: Journal,
): Promise<() => Promise<readonly EventOf<"checkout.changed">[]>> {
  if (beside === null) return () => Promise.resolve([]);
  const changed = await beside.checkout.watch();
  const others = new Set(othersAtWork(journal.state, task));
  return async () => {
    for (const id of othersAtWork(journal.state, task)) others.add(id);
    const change = await changed((head) => isOurs(journal.state, head));
    if (change === null) return [];
    return [{ type: "checkout.changed", run, task, iteration, beside: [...others], ...change }];
  };
}

function othersAtWork({ iterations }: State, task: string): readonly string[] {
  return iterations.map((open) => open.task).filter((id) => id !== task);
}

/** A merge moves what is checked out, and is recorded right after. */
function isOurs({ tasks }: State, head: string | null): boolean {
  return Object.values(tasks).some(
    ({ merge }) => (merge?.is === "prepared" || merge?.is === "merged") && merge.to === head,
  );
}
