import { fstatSync, closeSync, mkdirSync, openSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Leftover, NO_LEFTOVERS, type Leftovers } from "../../../core/verdict/evidence.ts";
import type {
  CommitRequest,
  CommittedWork,
  GatePlace,
  OldChecksRequest,
  WatchRequest,
  Workspace,
} from "../../../engine/ports.ts";
import {
  type Checkout,
  namedBy,
  openCheckout,
  type Owners,
  readStatus,
  type StatusEntry,
  whosePath,
  withRealPaths,
} from "./checkout.ts";
import { type Before, collectEvidence } from "./collect-evidence.ts";
import { commitLeftovers, commitMark, committedBefore, hasConflict } from "./commit-leftovers.ts";
import { fingerprint } from "./own-checkout.ts";
import { layOldChecks, removeAbandonedOldChecks } from "./old-checks.ts";
import { readSetBacks } from "./read-set-backs.ts";
import { readPatch } from "./read-diff.ts";
import {
  isLeftByGates,
  isUntouched,
  leftoversAt,
  othersLeftovers,
  readLeftovers,
  type SortedLeftovers,
} from "./read-leftovers.ts";
import { keepAccepted, readHead, resolveCommit } from "../read-head.ts";
import { saveConflict } from "./return-to-branch.ts";
import { keepFiles } from "./put-back.ts";
import { keepSteering, readIndexFlags, removePlaceholders } from "../steering.ts";
import { removeAbandoned, removeOwnIndexes, removeStaleLocks } from "../stale-locks.ts";
import { listFiles } from "../tree-entries.ts";
import { commitMessage, refOf } from "../write-commit.ts";
import { RalphError } from "../../../core/errors.ts";
import { forgetMissing } from "../../process/agent-sandbox.ts";
import { TEMPORARY_PREFIX } from "../../process/atomic-file.ts";
import { recordsIn, textOf } from "../git.ts";

export interface GitWorkspace extends Workspace {
  /** What is uncommitted, left out what is ignored, ours, or known to be left by agents and gates. */
  dirtyPaths(ignore: readonly string[], known?: Leftovers): Promise<string[]>;
  /** Another text when anything in the work tree has changed that git does not ignore. Takes no lock. */
  fingerprint(): Promise<string>;
  /** Checks the branch out, made from the current commit if it does not exist. */
  useBranch(name: string): Promise<void>;
}

export interface WorkspaceOptions {
  /** Of the work tree, which is the top of its repository. */
  readonly root: string;
  readonly ralphDir: string;
  readonly bigIndexBytes?: number;
  /** Keeps the commit of each claim, whatever becomes of its branch. */
  readonly keepsClaims?: boolean;
  /** Iterations after which git is asked to tidy up. */
  readonly tidyEvery?: number;
}

/** Each leaves a few objects, and git itself begins to mind at some 6,700. */
const TIDY_EVERY = 1_000;

export function createGitWorkspace(options: WorkspaceOptions): GitWorkspace {
  const { root, ralphDir, bigIndexBytes, keepsClaims = false, tidyEvery = TIDY_EVERY } = options;
  let opening: Promise<Checkout> | null = null;
  let opened: Checkout | null = null;
  let iterations = 0;
  const before: Before = { kept: null, flags: null };
  const open = async (): Promise<Checkout> => {
    opened ??= await (opening ??= openCheckout(root, ralphDir, bigIndexBytes));
    return opened;
  };
  return {
    async snapshot() {
      const checkout = await open();
      before.kept = keepFiles(checkout);
      keepSteering(checkout);
      // Those that are there when we begin are the operator's.
      before.flags ??= await readIndexFlags(checkout);
      return readHead(checkout, checkout.git);
    },
    hasWritten: async (request) => hasWritten(await open(), request),
    fingerprint: async () => fingerprint(await open()),
    lookAhead() {
      // At once: git walks while we look for what the agent left running. Nobody has opened it: nobody is in a hurry.
      opened?.walk.begin();
    },
    async collect(request) {
      const checkout = await open();
      const evidence = await collectEvidence(checkout, request, ownersIn(checkout, request), before);
      const { headAfter: commit } = evidence;
      if (keepsClaims && request.isClaimed && commit !== null)
        await keepAccepted(checkout.git, { ...request, commit });
      iterations += 1;
      // Git tidies up after its own commands, but not after ours: a run of a week would leave a file for each object.
      // Whether there is anything to do, and whether the operator wants it, git knows; how it went does not matter.
      if (iterations % tidyEvery === 0) await checkout.git.run(["gc", "--auto", "--quiet"], { tidies: true });
      return evidence;
    },
    commitWork: async (request) => commitWork(await open(), request),
    commitMark: async (request) => commitMark(await open(), request),
    async clearLeftovers() {
      const checkout = await open();
      removePlaceholders(checkout);
      forgetMissing(join(checkout.commonDir, "ralph"));
      removeOwnIndexes(checkout);
      await removeAbandonedOldChecks(checkout.commonDir);
      await removeStaleLocks(checkout);
      await removeAbandoned(checkout.git, checkout.root);
    },
    withOldChecks: async (request, use) => withOldChecks(await open(), request, use),
    patch: async (from, to) => readPatch((await open()).git, { from, to }),
    useBranch: async (name) => useBranch(await open(), name),
    dirtyPaths: async (ignore, known = NO_LEFTOVERS) => dirtyPaths(await open(), ignore, known),
    beforeGates: async () => nextTick((await open()).ralphDir),
    async leftoversAfterGates({ byAgents, byGates }, began) {
      const upTo = await nextTick((await open()).ralphDir);
      const lookAgain = (left: readonly Leftover[]): readonly Leftover[] =>
        leftoversAt(
          root,
          left.map(({ path }) => path),
        );
      return {
        byAgents: lookAgain(byAgents),
        byGates: lookAgain(byGates),
        gatesRan: began === null || upTo === null ? null : { after: began, upTo },
      };
    },
  };
}

async function hasWritten(checkout: Checkout, request: WatchRequest): Promise<boolean> {
  if ((await readHead(checkout, checkout.git)).head !== request.from.head) return true;
  const { whose } = ownersIn(checkout, request);
  const isOld = isUntouched(checkout.root, request.leftBefore);
  const entries = await readStatus(checkout);
  return entries.some(({ path }) => whose(path) === "agent" && !isOld(path));
}

async function commitWork(checkout: Checkout, asked: CommitRequest & WatchRequest): Promise<CommittedWork> {
  const { git } = checkout;
  const { from } = asked;
  // Hooks are for what is offered. What they refuse would stay in place.
  const request = { ...asked, hooks: false };
  const now = await readHead(checkout, git);
  if (now.branch !== from.branch) {
    // The operator has another branch checked out: nothing of the work lies there.
    const tip = await resolveCommit(git, refOf(from.branch ?? ""));
    return tip === from.head ? { is: "committed", head: tip, left: [] } : { is: "moved" };
  }
  if (now.head !== from.head) {
    const ours = await committedBefore(checkout, commitMessage(request, request.title));
    if (ours === null || ours.parent !== from.head) return { is: "moved" };
  }
  const { whose } = ownersIn(checkout, request);
  const left = await withKnownFiles(checkout, await readLeftovers(checkout, whose));
  if (hasConflict(left)) {
    // A merge that the agent has not ended, with the marks of its conflicts. The files stay as they are.
    await git.must(["reset", "--quiet", await saveConflict(checkout, left, request), "--"]);
  } else await commitLeftovers(checkout, left, request);
  const { head } = await readHead(checkout, git);
  const after = othersLeftovers(await readLeftovers(checkout, whose));
  return { is: "committed", head, left: after.map(({ path }) => path) };
}

/** A file that git has goes back to what it was, however big or secret it looks by now. */
async function withKnownFiles({ git }: Checkout, left: SortedLeftovers): Promise<SortedLeftovers> {
  const known = left.tooRisky.length === 0 ? null : await listFiles(git, "HEAD");
  const isKnown = ({ bytes }: StatusEntry): boolean => known?.has(bytes) === true;
  return {
    ...left,
    take: [...left.take, ...left.tooRisky.filter(isKnown)],
    tooRisky: left.tooRisky.filter((entry) => !isKnown(entry)),
  };
}

async function withOldChecks<T>(
  checkout: Checkout,
  { base, paths, gates, since }: OldChecksRequest,
  use: (place: GatePlace) => Promise<T>,
): Promise<T> {
  // A script that the gates ran first may have changed the tests.
  const { stdout } = await checkout.git.run(["diff-index", "--name-only", "-z", "HEAD"]);
  const changed = [...new Set([...paths, ...recordsIn(stdout).map(textOf)])];
  const request = { base, changed, gates, since, oldChecks: "always" } as const;
  const { setBacks } = await readSetBacks(checkout, request);
  const tree = await layOldChecks(checkout, base, setBacks);
  try {
    return await use(tree);
  } finally {
    await tree.dispose();
  }
}

async function dirtyPaths(
  checkout: Checkout,
  ignore: readonly string[],
  known: Leftovers,
): Promise<string[]> {
  const whose = whosePath(checkout.ralphPrefix, withRealPaths(checkout.root, ignore));
  // Left by an agent or a gate, whatever became of it.
  const isNamed = namedBy([...known.byAgents, ...known.byGates].map(({ path }) => path));
  const isGates = isLeftByGates(checkout.root, known);
  const paths = othersLeftovers(await readLeftovers(checkout, whose)).map(({ path }) => path);
  return paths.filter((path) => whose(path) === "agent" && !isNamed(path) && !isGates(path)).toSorted();
}

function ownersIn({ root, ralphPrefix }: Checkout, request: WatchRequest): Owners {
  const ours = [...withRealPaths(root, request.ignore), ...request.leaveAlone];
  const owner = whosePath(ralphPrefix, ours);
  const { leftBefore, leftByGates: byGates, gatesRan } = request;
  const isGates = isLeftByGates(root, { byAgents: leftBefore, byGates, gatesRan });
  return { isGates, whose: (path) => (isGates(path) ? "ours" : owner(path)) };
}

/** Checks the branch out, made from the current commit if it does not exist. */
async function useBranch(checkout: Checkout, name: string): Promise<void> {
  const { git } = checkout;
  if ((await readHead(checkout, git)).branch === name) return;
  if ((await git.run(["check-ref-format", "--branch", name])).code !== 0) {
    throw new RalphError("bad-tasks", `"${name}" is not a possible name of a branch`);
  }
  const exists = (await git.ask(["show-ref", "--verify", "--quiet", refOf(name)])).code === 0;
  await git.must(exists ? ["checkout", "--quiet", name, "--"] : ["checkout", "--quiet", "-b", name]);
}

/** Some file systems date changes by whole seconds. */
const COARSEST_MS = 2_500;

/** The latest date that a change so far can have, once every later change has a later one; null if that never comes. */
export async function nextTick(folder: string): Promise<number | null> {
  const latest = fileTime(folder);
  const deadline = performance.now() + COARSEST_MS;
  while (performance.now() < deadline) {
    if (fileTime(folder) > latest) return latest;
    await sleep(1);
  }
  return null;
}

/** The date that a change in this folder has now: by a clock that ticks slowly, and may be another machine's. */
function fileTime(folder: string): number {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${TEMPORARY_PREFIX}${process.pid}-clock`);
  rmSync(path, { recursive: true, force: true });
  const file = openSync(path, "wx");
  try {
    return fstatSync(file).ctimeMs;
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}
