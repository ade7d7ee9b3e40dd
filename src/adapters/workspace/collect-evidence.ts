import { PATHS_KEPT, type Evidence, type Leftover } from "../../core/report/evidence.ts";
import type { CollectRequest } from "../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { commitLeftovers } from "./commit-leftovers.ts";
import { isUntouched, leftoversAt } from "./known-leftovers.ts";
import { readChanges } from "./read-changes.ts";
import { readHead } from "./read-head.ts";
import { readLeftovers } from "./read-leftovers.ts";
import type { StatusEntry } from "./read-status.ts";
import { returnToBranch } from "./return-to-branch.ts";
import type { Owner } from "./whose-path.ts";

/** What an iteration has changed, whatever the agent says of it. Safe to repeat after a crash at any point. */
export async function collectEvidence(
  checkout: Checkout,
  request: CollectRequest,
  whose: (path: string) => Owner,
): Promise<Evidence> {
  const strayedTo = await returnToBranch(checkout, request, whose);
  const found = await readLeftovers(checkout, whose);
  const mayCommit = request.commit === "ralph";
  const isCommitted = mayCommit && (await commitLeftovers(checkout, found, request));
  // Hooks may have changed anything.
  const now = isCommitted && request.hooks ? await readLeftovers(checkout, whose) : found;
  const { take, stay, tooRisky, ours } = isCommitted ? { ...now, take: [] } : now;
  const uncommitted = [...take, ...stay, ...tooRisky].filter(({ path }) => whose(path) === "agent");
  const dirtyOurs = new Set(ours.map((entry) => entry.path));
  const isAgents = (path: string): boolean => whose(path) === "agent" && !dirtyOurs.has(path);
  const { head } = await readHead(checkout, checkout.git);
  return {
    headBefore: request.from.head,
    headAfter: head,
    ...(await changesOf(checkout, request, { head, uncommitted, isAgents })),
    uncommitted: leftoversAt(
      checkout.root,
      uncommitted.map((entry) => entry.path),
    ),
    leftOut: mayCommit ? tooRisky.slice(0, PATHS_KEPT).map(({ path, why }) => ({ path, why })) : [],
    strayedTo,
    marksTakenBack: [],
  };
}

interface Now {
  readonly head: string | null;
  readonly uncommitted: readonly StatusEntry[];
  readonly isAgents: (path: string) => boolean;
}

async function changesOf(
  { git, root }: Checkout,
  { from, taskBase, leftBefore, leftBeforeTask }: CollectRequest,
  { head, uncommitted, isAgents }: Now,
): Promise<Pick<Evidence, "changed" | "changedSinceTaskBegan">> {
  const since = (base: string | null, left: readonly Leftover[]): ReturnType<typeof readChanges> => {
    const isOld = isUntouched(root, left);
    const fresh = uncommitted.filter(({ path }) => !isOld(path));
    return readChanges(git, {
      from: base,
      head,
      withWorkTree: fresh.some((entry) => entry.is !== "untracked"),
      // Before the first commit git has nothing to compare with.
      also: fresh.filter((entry) => head === null || entry.is === "untracked").map((entry) => entry.path),
      isCounted: (path) => isAgents(path) && !isOld(path),
    });
  };
  const changed = since(from.head, leftBefore);
  const isSame = from.head === taskBase && leftBefore === leftBeforeTask;
  const changedSinceTaskBegan = isSame ? changed : since(taskBase, leftBeforeTask);
  const [inIteration, inTask] = await Promise.all([changed, changedSinceTaskBegan]);
  return { changed: inIteration, changedSinceTaskBegan: inTask };
}
