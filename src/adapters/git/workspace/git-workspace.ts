import { closeSync, fstatSync, mkdirSync, openSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Evidence,
  type Leftover,
  NO_LEFTOVERS,
  type Leftovers,
} from "../../../core/verdict/evidence.ts";
import type {
  CollectRequest,
  CommitRequest,
  CommittedWork,
  GatePlace,
  OldChecksRequest,
  WatchRequest,
  Workspace,
} from "../../../engine/ports.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import { collectEvidence } from "./collect-evidence.ts";
import { commitLeftovers, commitMark, committedBefore } from "./commit-leftovers.ts";
import { fingerprint } from "./own-checkout.ts";
import { readIndexFlags, type IndexFlags } from "./hidden-changes.ts";
import { keepFiles, type KeptFiles } from "./kept-files.ts";
import { layOldChecks, removeAbandonedOldChecks } from "./old-checks.ts";
import { readSetBacks } from "./read-set-backs.ts";
import { readPatch } from "./read-diff.ts";
import {
  isAnyLeftover,
  isLeftByGates,
  isUntouched,
  leftoversAt,
  readLeftovers,
  type SortedLeftovers,
} from "./read-leftovers.ts";
import { commitMessage } from "../commit-message.ts";
import { readHead, resolveCommit } from "../read-head.ts";
import { saveConflict } from "./return-to-branch.ts";
import { keepAccepted } from "../keep-backup.ts";
import { keepSteering, removePlaceholders } from "../steering.ts";
import { readStatus, type StatusEntry } from "./read-status.ts";
import { removeAbandoned, removeOwnIndexes, removeStaleLocks } from "../stale-locks.ts";
import { whosePath, withRealPaths, type Owners } from "./whose-path.ts";
import { RalphError } from "../../../core/errors.ts";
import { forgetMissing } from "../../process/agent-sandbox.ts";
import { TEMPORARY_PREFIX } from "../../process/atomic-file.ts";
import { textOf, type Git } from "../git.ts";

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

export function createGitWorkspace(options: WorkspaceOptions): GitWorkspace {
  const { root, ralphDir, bigIndexBytes } = options;
  let opening: Promise<Checkout> | null = null;
  let opened: Checkout | null = null;
  const before: Before = { kept: null, flags: null };
  const tidy = createTidying(options.tidyEvery);
  const open = async (): Promise<Checkout> => {
    opened ??= await (opening ??= openCheckout(root, ralphDir, bigIndexBytes));
    return opened;
  };
  return {
    async snapshot() {
      const checkout = await open();
      before.kept = keepFiles(checkout.root, checkout.ralphPrefix);
      keepSteering(checkout);
      // Those that are there when we begin are the operator's.
      before.flags ??= await readIndexFlags(checkout);
      return readHead(checkout, checkout.git);
    },
    async hasWritten(request) {
      return hasWritten(await open(), request);
    },
    async fingerprint() {
      return fingerprint(await open());
    },
    lookAhead() {
      // At once: git walks while we look for what the agent left running. Nobody has opened it: nobody is in a hurry.
      opened?.walk.begin();
    },
    async collect(request) {
      const checkout = await open();
      const evidence = await collectEvidence(checkout, request, ownersIn(checkout, request), before);
      await keepClaim(checkout, options, request, evidence);
      await tidy(checkout.git);
      return evidence;
    },
    commitWork: async (request) => commitWork(await open(), request),
    commitMark: async (request) => commitMark(await open(), request),
    clearLeftovers: async () => clearLeftovers(await open()),
    withOldChecks: async (request, use) => withOldChecks(await open(), request, use),
    patch: async (from, to) => readPatch((await open()).git, from, to),
    useBranch: async (name) => useBranch(await open(), name),
    async dirtyPaths(ignore, known = NO_LEFTOVERS) {
      return dirtyPaths(await open(), ignore, isAnyLeftover(root, known));
    },
    async beforeGates() {
      return nextTick((await open()).ralphDir);
    },
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

/** What was there before the iteration. */
interface Before {
  kept: KeptFiles | null;
  flags: IndexFlags | null;
}

async function keepClaim(
  { git }: Checkout,
  { keepsClaims }: WorkspaceOptions,
  request: CollectRequest,
  { headAfter: commit }: Evidence,
): Promise<void> {
  if (keepsClaims === true && request.isClaimed && commit !== null)
    await keepAccepted(git, { ...request, commit });
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
    const tip = await resolveCommit(git, `refs/heads/${from.branch ?? ""}`);
    return tip === from.head ? { is: "committed", head: tip, left: [] } : { is: "moved" };
  }
  if (now.head !== from.head) {
    const ours = await committedBefore(checkout, commitMessage(request, request.title));
    if (ours === null || ours.parent !== from.head) return { is: "moved" };
  }
  const { whose } = ownersIn(checkout, request);
  const left = await withKnownFiles(checkout, await readLeftovers(checkout, whose));
  if (left.stay.some((entry) => entry.is === "conflict")) await commitConflict(checkout, left, request);
  else await commitLeftovers(checkout, left, request);
  const { head } = await readHead(checkout, git);
  const { take, stay, tooRisky } = await readLeftovers(checkout, whose);
  return { is: "committed", head, left: [...take, ...stay, ...tooRisky].map(({ path }) => path) };
}

/** A file that git has goes back to what it was, however big or secret it looks by now. */
async function withKnownFiles({ git }: Checkout, left: SortedLeftovers): Promise<SortedLeftovers> {
  if (left.tooRisky.length === 0) return left;
  const known = new Set((await git.run(["ls-tree", "-r", "-z", "--name-only", "HEAD"])).stdout.split("\0"));
  const isKnown = ({ bytes }: StatusEntry): boolean => known.has(bytes);
  return {
    ...left,
    take: [...left.take, ...left.tooRisky.filter(isKnown)],
    tooRisky: left.tooRisky.filter((entry) => !isKnown(entry)),
  };
}

/** A merge that the agent has not ended, with the marks of its conflicts. The files stay as they are. */
async function commitConflict(
  checkout: Checkout,
  left: SortedLeftovers,
  request: CommitRequest,
): Promise<void> {
  const saved = await saveConflict(checkout, left, request);
  await checkout.git.must(["reset", "--quiet", saved, "--"]);
}

async function clearLeftovers(checkout: Checkout): Promise<void> {
  removePlaceholders(checkout);
  forgetMissing(join(checkout.commonDir, "ralph"));
  removeOwnIndexes(checkout);
  await removeAbandonedOldChecks(checkout.commonDir);
  await removeStaleLocks(checkout);
  await removeAbandoned(checkout.git, checkout.root);
}

async function withOldChecks<T>(
  checkout: Checkout,
  { base, paths, gates, since }: OldChecksRequest,
  use: (place: GatePlace) => Promise<T>,
): Promise<T> {
  // A script that the gates ran first may have changed the tests.
  const { stdout } = await checkout.git.run(["diff-index", "--name-only", "-z", "HEAD"]);
  const changed = [
    ...new Set([
      ...paths,
      ...stdout
        .split("\0")
        .filter((path) => path !== "")
        .map(textOf),
    ]),
  ];
  const request = { base, changed, gates, since, oldChecks: "always" } as const;
  const { setBacks } = await readSetBacks(checkout, request);
  const tree = await layOldChecks(checkout, base, setBacks);
  try {
    return await use({ root: tree.root, prefix: tree.prefix ?? [] });
  } finally {
    await tree.dispose();
  }
}

async function dirtyPaths(
  checkout: Checkout,
  ignore: readonly string[],
  isKnown: (path: string) => boolean,
): Promise<string[]> {
  const whose = whosePath(checkout.ralphPrefix, withRealPaths(checkout.root, ignore));
  const { take, stay, tooRisky } = await readLeftovers(checkout, whose);
  const paths = [...take, ...stay, ...tooRisky].map((entry) => entry.path);
  return paths.filter((path) => whose(path) === "agent" && !isKnown(path)).toSorted();
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
  const exists = (await git.ask(["show-ref", "--verify", "--quiet", `refs/heads/${name}`])).code === 0;
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

/** Each leaves a few objects, and git itself begins to mind at some 6,700. */
const ITERATIONS = 1_000;

/**
 * To be called once an iteration. Git tidies up after its own commands, but not after ours: a run of a week
 * would leave a file for each object. Whether there is anything to do, and whether the operator wants it, git knows.
 */
function createTidying(every = ITERATIONS): (git: Git) => Promise<void> {
  let iterations = 0;
  return async (git) => {
    iterations += 1;
    // How it went does not matter to the work; the next time comes.
    if (iterations % every === 0) await git.run(["gc", "--auto", "--quiet"], { tidies: true });
  };
}
