import { NO_LEFTOVERS, type Leftovers } from "../../core/report/evidence.ts";
import type { WatchRequest, Workspace } from "../../engine/ports.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import { collectEvidence } from "./collect-evidence.ts";
import { nextTick } from "./file-clock.ts";
import { commitMark } from "./commit-mark.ts";
import { fingerprint } from "./fingerprint.ts";
import { keepFiles, type KeptFiles } from "./kept-files.ts";
import { isAnyLeftover, isLeftByGates, isUntouched, lookAgain } from "./known-leftovers.ts";
import { readHead } from "../git/read-head.ts";
import { readLeftovers } from "./read-leftovers.ts";
import { readStatus } from "./read-status.ts";
import { removeAbandoned } from "../git/remove-abandoned.ts";
import { removeOwnIndexes, removeStaleLocks } from "../git/stale-locks.ts";
import { createTidying } from "./tidy-now-and-then.ts";
import { useBranch } from "./use-branch.ts";
import { whosePath, withRealPaths, type Owners } from "./whose-path.ts";

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
  /** Iterations after which git is asked to tidy up. */
  readonly tidyEvery?: number;
}

export function createGitWorkspace(options: WorkspaceOptions): GitWorkspace {
  const { root, ralphDir, bigIndexBytes } = options;
  let opening: Promise<Checkout> | null = null;
  let opened: Checkout | null = null;
  let kept: KeptFiles | null = null;
  const tidy = createTidying(options.tidyEvery);
  const open = async (): Promise<Checkout> => {
    opened ??= await (opening ??= openCheckout(root, ralphDir, bigIndexBytes));
    return opened;
  };
  return {
    async snapshot() {
      const checkout = await open();
      kept = keepFiles(checkout.root, checkout.ralphPrefix);
      return readHead(checkout, checkout.git);
    },
    async hasWritten(request) {
      const checkout = await open();
      if ((await readHead(checkout, checkout.git)).head !== request.from.head) return true;
      const { whose } = ownersIn(checkout, request);
      const isOld = isUntouched(checkout.root, request.leftBefore);
      const entries = await readStatus(checkout);
      return entries.some(({ path }) => whose(path) === "agent" && !isOld(path));
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
      const evidence = await collectEvidence(checkout, request, ownersIn(checkout, request), kept);
      await tidy(checkout.git);
      return evidence;
    },
    async commitMark(request) {
      return commitMark(await open(), request);
    },
    async clearLeftovers() {
      const checkout = await open();
      removeOwnIndexes(checkout);
      await removeStaleLocks(checkout);
      await removeAbandoned(checkout.git, checkout.root);
    },
    async useBranch(name) {
      await useBranch(await open(), name);
    },
    async dirtyPaths(ignore, known = NO_LEFTOVERS) {
      const checkout = await open();
      const whose = whosePath(checkout.ralphPrefix, withRealPaths(checkout.root, ignore));
      const { take, stay, tooRisky } = await readLeftovers(checkout, whose);
      const paths = [...take, ...stay, ...tooRisky].map((entry) => entry.path);
      const isKnown = isAnyLeftover(root, known);
      return paths.filter((path) => whose(path) === "agent" && !isKnown(path)).toSorted();
    },
    async beforeGates() {
      return nextTick((await open()).ralphDir);
    },
    async leftoversAfterGates({ byAgents, byGates }, began) {
      const upTo = await nextTick((await open()).ralphDir);
      return {
        byAgents: lookAgain(root, byAgents),
        byGates: lookAgain(root, byGates),
        gatesRan: began === null || upTo === null ? null : { after: began, upTo },
      };
    },
  };
}

function ownersIn({ root, ralphPrefix }: Checkout, request: WatchRequest): Owners {
  const ours = [...withRealPaths(root, request.ignore), ...request.leaveAlone];
  const owner = whosePath(ralphPrefix, ours);
  const { leftBefore, leftByGates: byGates, gatesRan } = request;
  const isGates = isLeftByGates(root, { byAgents: leftBefore, byGates, gatesRan });
  return { isGates, whose: (path) => (isGates(path) ? "ours" : owner(path)) };
}
