import { RalphError } from "../../core/ralph-error.ts";
import type { WatchRequest, Workspace } from "../../engine/ports.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import { collectEvidence } from "./collect-evidence.ts";
import { commitMark } from "./commit-mark.ts";
import { keepFiles, type KeptFiles } from "./kept-files.ts";
import { isUntouched, leftoversAt, sortByOwner } from "./known-leftovers.ts";
import { readHead } from "./read-head.ts";
import { readLeftovers } from "./read-leftovers.ts";
import { readStatus } from "./read-status.ts";
import { removeOwnIndexes, removeStaleLocks } from "./stale-locks.ts";
import { whosePath, withRealPaths, type Owner } from "./whose-path.ts";

export interface GitWorkspace extends Workspace {
  /** What is uncommitted, ignored files and ours left out. */
  dirtyPaths(ignore: readonly string[]): Promise<string[]>;
  /** Checks the branch out, made from the current commit if it does not exist. */
  useBranch(name: string): Promise<void>;
}

export interface WorkspaceOptions {
  /** Of the work tree, which is the top of its repository. */
  readonly root: string;
  readonly ralphDir: string;
  readonly bigIndexBytes?: number;
}

export function createGitWorkspace({ root, ralphDir, bigIndexBytes }: WorkspaceOptions): GitWorkspace {
  let opened: Promise<Checkout> | null = null;
  let kept: KeptFiles | null = null;
  const open = (): Promise<Checkout> => (opened ??= openCheckout(root, ralphDir, bigIndexBytes));
  return {
    async snapshot() {
      const checkout = await open();
      kept = keepFiles(checkout.root, checkout.ralphPrefix);
      return readHead(checkout, checkout.git);
    },
    async hasWritten(request) {
      const checkout = await open();
      if ((await readHead(checkout, checkout.git)).head !== request.from.head) return true;
      const whose = ownerIn(checkout, request);
      const isOld = isUntouched(checkout.root, request.leftBefore);
      const entries = await readStatus(checkout.git);
      return entries.some(({ path }) => whose(path) === "agent" && !isOld(path));
    },
    async collect(request) {
      const checkout = await open();
      return collectEvidence(checkout, request, ownerIn(checkout, request), kept);
    },
    async commitMark(request) {
      return commitMark(await open(), request);
    },
    async clearLeftovers() {
      const checkout = await open();
      removeOwnIndexes(checkout);
      await removeStaleLocks(checkout);
    },
    async useBranch(name) {
      const checkout = await open();
      if ((await readHead(checkout, checkout.git)).branch === name) return;
      if ((await checkout.git.run(["check-ref-format", "--branch", name])).code !== 0) {
        throw new RalphError("bad-tasks", `"${name}" is not a possible name of a branch`);
      }
      const exists =
        (await checkout.git.ask(["show-ref", "--verify", "--quiet", `refs/heads/${name}`])).code === 0;
      await checkout.git.must(
        exists ? ["checkout", "--quiet", name, "--"] : ["checkout", "--quiet", "-b", name],
      );
    },
    async dirtyPaths(ignore) {
      const checkout = await open();
      const whose = whosePath(checkout.ralphPrefix, withRealPaths(checkout.root, ignore));
      const { take, stay, tooRisky } = await readLeftovers(checkout, whose);
      const paths = [...take, ...stay, ...tooRisky].map((entry) => entry.path);
      return paths.filter((path) => whose(path) === "agent").toSorted();
    },
    async leftoversAfterGates(byAgents) {
      const { git } = await open();
      const paths = (await readStatus(git, { mayRefresh: true })).map((entry) => entry.path);
      return sortByOwner(leftoversAt(root, paths), byAgents);
    },
  };
}

function ownerIn(checkout: Checkout, request: WatchRequest): (path: string) => Owner {
  const ours = [...withRealPaths(checkout.root, request.ignore), ...request.leaveAlone];
  const owner = whosePath(checkout.ralphPrefix, ours);
  const isGates = isUntouched(checkout.root, request.leftByGates);
  return (path) => (isGates(path) ? "ours" : owner(path));
}
