import { PATHS_KEPT, type ChangeSet, type Evidence, type Leftover } from "../../core/report/evidence.ts";
import type { CollectRequest } from "../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { commitLeftovers } from "./commit-leftovers.ts";
import { findPhantoms } from "./find-phantoms.ts";
import type { KeptFiles } from "./kept-files.ts";
import { isUntouched, leftoversAt } from "./known-leftovers.ts";
import { textOf } from "../git/git.ts";
import { changedDefinitions, pinnedFiles } from "./pinned-definitions.ts";
import { putBackProtected } from "./put-back.ts";
import { readChanges } from "./read-changes.ts";
import { readHead } from "../git/read-head.ts";
import { readLeftovers } from "./read-leftovers.ts";
import { readWeakenedTests } from "./read-weakened-tests.ts";
import type { StatusEntry } from "./read-status.ts";
import { returnToBranch } from "./return-to-branch.ts";
import type { Owners } from "./whose-path.ts";

/** What an iteration has changed, whatever the agent says of it. Safe to repeat after a crash at any point. */
export async function collectEvidence(
  checkout: Checkout,
  request: CollectRequest,
  { whose, isGates }: Owners,
  kept: KeptFiles | null,
): Promise<Evidence> {
  const refusals: string[] = [];
  const onRefusal = (words: string): void => void refusals.push(words);
  const strayedTo = await returnToBranch(checkout, request, whose);
  const { putBack, left: found } = await putBackProtected(checkout, request, { whose, kept, onRefusal });
  const mayCommit = request.commit === "ralph";
  const { isCommitted, refused } = mayCommit
    ? await commitLeftovers(checkout, found, request, onRefusal)
    : { isCommitted: false, refused: [] };
  // Hooks may have changed anything.
  const now = isCommitted && request.hooks ? await readLeftovers(checkout, whose) : found;
  const { take, stay, tooRisky, ours } = isCommitted ? { ...now, take: refused } : now;
  const uncommitted = [...take, ...stay, ...tooRisky].filter(({ path }) => whose(path) === "agent");
  const dirtyOurs = new Set(ours.map((entry) => entry.path));
  const isAgents = (path: string): boolean => whose(path) === "agent" && !dirtyOurs.has(path);
  const { head } = await readHead(checkout, checkout.git);
  const changes = await changesOf(checkout, request, { head, uncommitted, isAgents });
  const dirty = [...found.take, ...found.stay, ...found.tooRisky, ...found.ours].map((entry) => entry.path);
  const [phantoms, weakened] = await Promise.all([
    // What the agent wrote elsewhere is there, and not here.
    strayedTo !== null
      ? []
      : findPhantoms(checkout, {
          cited: request.cited,
          written: request.written,
          changed: [
            ...changes.inTask,
            ...changes.inIteration,
            ...dirty,
            ...putBack,
            ...request.earlier.paths,
          ],
          base: request.taskBase,
          head,
          whose,
          ours: [...request.ignore, ...request.leaveAlone],
        }),
    readWeakenedTests(checkout, request.taskBase, changes.inTask),
  ]);
  return {
    headBefore: request.from.head,
    headAfter: head,
    changed: changeSetOf(changes.inIteration),
    changedSinceTaskBegan: changeSetOf(changes.inTask),
    uncommitted: leftoversAt(
      checkout.root,
      uncommitted.map((entry) => entry.path),
    ),
    leftByGates: leftoversAt(checkout.root, dirty.filter(isGates)),
    leftOut: mayCommit ? tooRisky.slice(0, PATHS_KEPT).map(({ path, why }) => ({ path, why })) : [],
    strayedTo,
    marksTakenBack: [],
    tasksRemoved: [],
    phantoms,
    putBack,
    changedDefinitions: await definitionsChanged(checkout, request, changes.inTask),
    weakened,
    refusal: refusals.at(-1) ?? null,
  };
}

/** Git is asked only about files that the task changed. */
async function definitionsChanged(
  { git, root }: Checkout,
  { pins, taskBase }: CollectRequest,
  changed: readonly string[],
): Promise<Evidence["changedDefinitions"]> {
  const before = new Map<string, string>();
  for (const path of pinnedFiles(pins).filter((name) => changed.includes(name))) {
    const { code, stdout } = await git.run(["cat-file", "blob", `${taskBase}:${path}`]);
    if (code === 0) before.set(path, textOf(stdout));
  }
  return changedDefinitions(root, pins, (path) => before.get(path) ?? null);
}

interface Now {
  readonly head: string | null;
  readonly uncommitted: readonly StatusEntry[];
  readonly isAgents: (path: string) => boolean;
}

/** All paths that count, however many. */
interface Changes {
  readonly inIteration: readonly string[];
  readonly inTask: readonly string[];
}

async function changesOf(
  { root, comparisons }: Checkout,
  { from, taskBase, leftBefore, leftBeforeTask, earlier }: CollectRequest,
  { head, uncommitted, isAgents }: Now,
): Promise<Changes> {
  const since = (base: string | null, left: readonly Leftover[]): ReturnType<typeof readChanges> => {
    const isOld = isUntouched(root, left);
    const fresh = uncommitted.filter(({ path }) => !isOld(path));
    return readChanges(comparisons, {
      from: base,
      head,
      dirty: fresh.filter((entry) => entry.is !== "untracked").map((entry) => entry.path),
      // Before the first commit git has nothing to compare with.
      also: fresh.filter((entry) => head === null || entry.is === "untracked").map((entry) => entry.path),
      isCounted: (path) => isAgents(path) && !isOld(path),
    });
  };
  const changed = since(from.head, leftBefore);
  const isSame = from.head === taskBase && leftBefore === leftBeforeTask;
  const changedSinceTaskBegan = isSame ? changed : since(taskBase, leftBeforeTask);
  const [inIteration, inRow] = await Promise.all([changed, changedSinceTaskBegan]);
  const isStanding =
    earlier.paths.length === 0 || head === null ? [] : await comparisons.between(earlier.from, head);
  const standing = new Set(isStanding);
  const inTask = [...new Set([...inRow, ...earlier.paths.filter((path) => standing.has(path))])];
  return { inIteration, inTask };
}

function changeSetOf(paths: readonly string[]): ChangeSet {
  return { files: paths.length, paths: paths.slice(0, PATHS_KEPT) };
}
