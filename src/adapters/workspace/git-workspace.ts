import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import type { CommitRequest, Workspace } from "../../engine/ports.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import { collectEvidence } from "./collect-evidence.ts";
import { commitIndex, isMerging, stage } from "./commit-leftovers.ts";
import { commitMessage } from "./commit-message.ts";
import { isUntouched, leftoversAt, sortByOwner } from "./known-leftovers.ts";
import { readHead } from "./read-head.ts";
import { readLeftovers } from "./read-leftovers.ts";
import { readStatus } from "./read-status.ts";
import { removeOwnIndexes, removeStaleLocks } from "./stale-locks.ts";
import { whosePath, type Owner } from "./whose-path.ts";

export interface GitWorkspace extends Workspace {
  /** What is uncommitted, ignored files and ours left out. */
  dirtyPaths(ignore: readonly string[]): Promise<string[]>;
  /** Checks the branch out, made from the current commit if it does not exist. */
  useBranch(name: string): Promise<void>;
}

/** The work tree at `root`, which is the top of its repository. */
export function createGitWorkspace({ root, ralphDir }: { root: string; ralphDir: string }): GitWorkspace {
  let opened: Promise<Checkout> | null = null;
  const open = (): Promise<Checkout> => (opened ??= openCheckout(root, ralphDir));
  return {
    async snapshot() {
      const checkout = await open();
      return readHead(checkout, checkout.git);
    },
    async collect(request) {
      const checkout = await open();
      const ours = [...withRealPaths(checkout.root, request.ignore), ...request.leaveAlone];
      const owner = whosePath(checkout.ralphPrefix, ours);
      const isGates = isUntouched(checkout.root, request.leftByGates);
      const whose = (path: string): Owner => (isGates(path) ? "ours" : owner(path));
      return collectEvidence(checkout, request, whose);
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
      const paths = (await readStatus(git)).map((entry) => entry.path);
      return sortByOwner(leftoversAt(root, paths), byAgents);
    },
  };
}

async function commitMark(
  checkout: Checkout,
  request: CommitRequest & { readonly path: string },
): Promise<string | null> {
  const { git, root } = checkout;
  const path = withRealPaths(root, [request.path]).at(-1) ?? request.path;
  const entry = (await readStatus(git, path)).find((candidate) => candidate.path === path);
  // In the middle of a merge a commit would be the merge's, and without its files.
  if (entry === undefined || !entry.committable || entry.missing || isMerging(checkout)) return null;
  if (entry.is === "untracked") await stage(git, [entry]);
  const isCommitted = await commitIndex(checkout, {
    message: commitMessage(request, "mark done"),
    hooks: request.hooks,
    what: ["--only", "--", `:(literal)${path}`],
  });
  return isCommitted ? (await readHead(checkout, git)).head : null;
}

/** A task file may be a link to another file of the repository: then both are meant, the real one last. */
function withRealPaths(root: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    try {
      const real = relative(root, realpathSync(join(root, path))).replaceAll("\\", "/");
      return real === path || real.startsWith("../") ? [path] : [path, real];
    } catch {
      return [path]; // not there: its name is enough
    }
  });
}
