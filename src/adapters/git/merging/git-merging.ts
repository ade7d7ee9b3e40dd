import { RalphError } from "../../../core/errors.ts";
import { asArgument, mergedBranch } from "../../../core/text.ts";
import type { Merging, ProposedWork, PullRequest, PullRequests } from "../../../engine/parallel-ports.ts";
import { findProgram } from "../../process/process-table.ts";
import { runProgram, type Said } from "../../process/supervise.ts";
import { chooseRemote, openRepository, type OpenRepository, type Repository } from "../find-repository.ts";
import { bytesOf, compareBranch, type Git, gitError, hardenedForOthers, isHere } from "../git.ts";
import { keepBackup, resolveCommit } from "../read-head.ts";
import { withWorkbench } from "../tree-entries.ts";
import { type CommitPlace, refOf } from "../write-commit.ts";
import { HERE, prepareMerge, prepareRevert, type WhereCommitsAre } from "./prepare-merge.ts";
import { advance, dropBranch, keepOnBranch, openGit, setBranch } from "./move-branch.ts";

interface MergingOptions {
  /** The user's checkout, the top of its work tree. */
  readonly root: string;
  /** A folder for what lives as long as a call; it may be shared. */
  readonly scratch: string;
  /** When it is not this repository that says so. */
  readonly where?: WhereCommitsAre;
}

export function createMerging({ root, scratch, where = HERE }: MergingOptions): Merging {
  let opening: Promise<OpenRepository> | null = null;
  const open = (): Promise<OpenRepository> => (opening ??= openRepository(root));
  const onWorkbench = async <Result>(use: (place: CommitPlace) => Promise<Result>): Promise<Result> => {
    const checkout = await open();
    const { identity } = checkout;
    return withWorkbench(checkout, scratch, (git) => use({ git, identity }));
  };
  return {
    prepare: (request) => onWorkbench((place) => prepareMerge(place, request, where)),
    async whatMoved(branch, commit) {
      const git = openGit(await open(), branch);
      const tip = await resolveCommit(git, refOf(branch));
      const where = `${branch}, or ${mergedBranch(branch)} once its worktree is removed`;
      const restore = `git update-ref ${asArgument(refOf(branch))} ${commit}`;
      return compareBranch(git, { commit, tip, where, restore });
    },
    rename: async (branch, name) => renameBranch(await open(), branch, name),
    advance: async (request) => advance(await open(), scratch, request),
    set: async (move) => setBranch(await open(), scratch, move),
    has: async (commit) => isHere((await open()).git, commit),
    keep: async (branch, commit) => keepOnBranch(await open(), branch, commit),
    drop: async (branch, commit, backup) => {
      const checkout = await open();
      if (backup !== undefined && (await isHere(checkout.git, commit)))
        await keepBackup(checkout.git, { ...backup, commit });
      await dropBranch(checkout, branch, commit);
    },
    revert: (request) => onWorkbench((place) => prepareRevert(place, request, where)),
  };
}

/** Renames a branch over another. `git branch -M` deletes the old name first, and a kill would lose it. */
async function renameBranch(repository: Repository, branch: string, name: string): Promise<void> {
  const git = openGit(repository, branch, name);
  const tip = await resolveCommit(git, refOf(branch));
  if (tip === null) return;
  // In one transaction git writes before it deletes.
  const input = `update ${refOf(name)} ${tip}\ndelete ${refOf(branch)} ${tip}\n`;
  await git.must(["update-ref", "-m", "ralph: merged", "--stdin"], { input: bytesOf(input) });
}

interface PullRequestOptions {
  /** The user's checkout. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Pull requests through GitHub's own command line, with the sign-in that it has. */
export function createPullRequests({ root, env }: PullRequestOptions): PullRequests {
  // Nobody is there to be asked for a password.
  const silent = { ...env, GH_PROMPT_DISABLED: "1", GIT_TERMINAL_PROMPT: "0", NO_COLOR: "1" };
  const variables = Object.fromEntries(
    Object.entries(silent).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  let opening: Promise<OpenRepository> | null = null;
  const open = (): Promise<OpenRepository> => (opening ??= openRepository(root));
  const gh = (...args: readonly string[]): Promise<Said> =>
    runProgram("gh", args, { cwd: root, env: hardenedForOthers(silent) });
  return {
    requireUsable: async (base) => {
      if (findProgram("gh", root, env) === null)
        throw new RalphError("config", 'git.merge is "pr", and the program gh is not installed', {
          hint: "install it (https://cli.github.com), or set another git.merge",
        });
      await requireRemote((await open()).git, base);
    },
    propose: async (work) => {
      const { git } = await open();
      const remote = await requireRemote(git, work.base);
      const refspec = `${work.commit}:refs/heads/${work.branch}`;
      const push = ["push", "--quiet", remote, refspec];
      const pushed = await git.run(push, { env: variables, hooks: work.hooks, timeoutMs: PATIENCE_MS });
      if (pushed.code !== 0) return { is: "refused", why: `to ${remote}: ${gitError(push, pushed).message}` };
      const { branch, base, title, body } = work;
      const create = ["pr", "create", "--head", branch, "--base", base, "--title", title, "--body", body];
      return (await openedBefore(gh, work)) ?? opened(await gh(...create), work);
    },
  };
}

const PATIENCE_MS = 120_000;

/** The work may have been proposed before, and its branch be new now: one pull request follows it. */
async function openedBefore(
  gh: (...args: readonly string[]) => Promise<Said>,
  { branch, base }: ProposedWork,
): Promise<PullRequest | null> {
  const about = ["--head", branch, "--base", base, "--state", "open"];
  const { isWell, words } = await gh("pr", "list", ...about, "--json", "url", "--jq", ".[0].url");
  return isWell && words.startsWith("http") ? { is: "proposed", url: words } : null;
}

function opened({ isWell, words }: Said, { branch }: ProposedWork): PullRequest {
  const url = /https?:\/\/\S+/.exec(words)?.[0];
  if (isWell && url !== undefined) return { is: "proposed", url };
  const why = words || "it named no address";
  return { is: "refused", why: `${branch} is pushed, but gh pr create failed: ${why}` };
}

/** Where branches are pushed for pull requests. */
async function requireRemote(git: Git, base: string): Promise<string> {
  const chosen = await chooseRemote(git, base);
  if ("name" in chosen) return chosen.name;
  throw new RalphError("config", `git.merge is "pr", and ${chosen.why}`, {
    hint: "git remote add origin URL, or set another git.merge",
  });
}
