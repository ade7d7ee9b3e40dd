import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { RalphError } from "../../core/errors.ts";
import { entriesIn, textAt } from "../process/look-at.ts";
import { createGit, type Git, type GitResult, textOf } from "./git.ts";

export interface Repository {
  /** Of the work tree. */
  readonly root: string;
  readonly gitDir: string;
  /** Shared by all work trees of the repository. */
  readonly commonDir: string;
}

/** The repository around a directory. */
export async function findRepository(cwd: string): Promise<Repository> {
  const git = createGit(cwd);
  const asked = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
  const { code, stdout, stderr } = await git.run(asked);
  const [root, gitDir, commonDir] = textOf(stdout).split("\n");
  if (code === 0 && root && gitDir && commonDir)
    return { root, gitDir, commonDir: resolve(realpathSync(cwd), commonDir) };
  if (/must be run in a work tree/.test(stderr)) {
    throw new RalphError("no-repository", `${cwd} is in a git directory that has no work tree`, {
      hint: "go to a checkout of it, or make one: git worktree add <path>",
    });
  }
  if (/dubious ownership/.test(stderr)) {
    throw new RalphError("no-repository", `the git repository around ${cwd} belongs to another user`, {
      hint: `git config --global --add safe.directory ${cwd}`,
    });
  }
  throw new RalphError("no-repository", `${cwd} is not inside a git repository`, { hint: "git init" });
}

/** A worktree as the repository knows it; its folder may be gone. */
export interface RegisteredWorktree {
  readonly root: string;
  /** Its own, below `worktrees/` in the common one. */
  readonly gitDir: string;
}

/** Suffix of a worktree's git directory that is being removed. */
export const REMOVED = "~ralph-removed";

/** Read without git: it says nothing of worktrees that are half made. */
export function registeredWorktrees(commonDir: string): RegisteredWorktree[] {
  return entriesIn(join(commonDir, "worktrees")).flatMap(({ name }) => {
    if (name.endsWith(REMOVED)) return [];
    const gitDir = join(commonDir, "worktrees", name);
    const link = textAt(join(gitDir, "gitdir"))?.replace(/\n$/, "");
    return link === undefined || link === "" ? [] : [{ root: dirname(resolve(gitDir, link)), gitDir }];
  });
}

/** A bare repository is worked on from a checkout inside of it; any other folder is the place itself. */
export async function checkoutOfBare(cwd: string): Promise<string> {
  const git = createGit(cwd);
  const { code, stdout } = await git.run(["rev-parse", "--is-bare-repository", "--git-dir"]);
  const [isBare, gitDir = ""] = stdout.trim().split("\n");
  if (code !== 0 || isBare !== "true") return cwd;
  const root = join(resolve(cwd, gitDir), "ralph", "checkout");
  if (existsSync(join(root, ".git"))) {
    const head = (await git.must(["rev-parse", "HEAD"])).trim();
    await createGit(root).must(["checkout", "--quiet", "--detach", "--force", head]);
  } else {
    await git.must(["worktree", "prune"]);
    await git.must(["worktree", "add", "--quiet", "--force", "--detach", root, "HEAD"]);
  }
  return root;
}

/** As realpath; what does not exist yet is taken as it is written. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

type ChosenRemote = { readonly name: string } | { readonly why: string };

/** Where branches go: the base's own remote, the only one, or `origin`. In words why there is none. */
export async function chooseRemote(git: Git, base: string | null): Promise<ChosenRemote> {
  const own =
    base === null ? "" : (await git.ask(["config", "--get", `branch.${base}.remote`])).stdout.trim();
  const remotes = (await git.must(["remote"])).split("\n").filter(Boolean);
  const name = [own, remotes.length === 1 ? remotes[0] : undefined, "origin"].find(
    (candidate) => candidate !== undefined && remotes.includes(candidate),
  );
  if (name !== undefined) return { name };
  return { why: remotes.length === 0 ? "this repository has no remote" : "none of the remotes is origin" };
}

/** Deletes a branch that no worktree has checked out. `git branch -D` would write the configuration anew. */
export async function deleteBranch(git: Git, name: string): Promise<GitResult> {
  const ref = `refs/heads/${name}`;
  const { stdout } = await git.run(["for-each-ref", "--format=%(worktreepath)", ref]);
  if (stdout.trim() === "") return git.run(["update-ref", "-d", ref]);
  return { code: 1, stdout: "", stderr: `the branch is checked out at '${stdout.trim()}'` };
}

/** A repository, and a git in it that is not held up by the locks of the dead. */
export interface OpenRepository extends Repository {
  readonly git: Git;
  /** Settings for commits of ours where the operator has told git no name. */
  readonly identity: () => Promise<readonly string[]>;
}

export async function openRepository(root: string): Promise<OpenRepository> {
  const repository = await findRepository(root);
  // Not for commands that only look.
  const { removeLinks } = await import("./steering.ts");
  const { removeStaleLocks } = await import("./stale-locks.ts");
  for (const dir of new Set([repository.gitDir, repository.commonDir])) removeLinks(dir);
  const git = createGit(repository.root, {
    unlock: () => removeStaleLocks(repository),
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
  let identity: Promise<readonly string[]> | null = null;
  return { ...repository, git, identity: () => (identity ??= fallbackIdentity(git)) };
}

async function fallbackIdentity(git: Git): Promise<readonly string[]> {
  // Without this, git makes up a name from the machine's, and only sometimes.
  const known = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((name) =>
    git.run(["-c", "user.useConfigOnly=true", "var", name]),
  );
  const isKnown = (await Promise.all(known)).every(({ code }) => code === 0);
  return isKnown ? [] : ["-c", "user.name=Ralph", "-c", "user.email=ralph@localhost"];
}
