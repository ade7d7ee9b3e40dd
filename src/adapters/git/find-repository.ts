import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { createGit, type Git, type GitResult } from "./git.ts";

export interface Repository {
  /** Of the work tree. */
  readonly root: string;
  readonly gitDir: string;
  /** Shared by all work trees of the repository. */
  readonly commonDir: string;
}

/** The repository around a directory. Asks git itself only where a plain look is not enough. */
export async function findRepository(cwd: string): Promise<Repository> {
  return lookUpwards(cwd) ?? (await askGit(cwd));
}

const CHANGES_DISCOVERY = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_COMMON_DIR",
  "GIT_CEILING_DIRECTORIES",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/** Starting git costs more than all the rest of a short command. */
function lookUpwards(cwd: string): Repository | null {
  if (CHANGES_DISCOVERY.some((name) => process.env[name] !== undefined)) return null;
  let folder: string;
  try {
    folder = realpathSync(cwd);
  } catch {
    return null; // git has the better words for it
  }
  for (;;) {
    const gitDir = join(folder, ".git");
    if (kindOf(gitDir) === "file") return linkedWorktree(folder, gitDir);
    if (looksLikeGitDir(folder)) return null;
    if (looksLikeGitDir(gitDir)) {
      return isPlain(gitDir) ? { root: folder, gitDir, commonDir: gitDir } : null;
    }
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

/** A linked worktree says where its own git directory is, and that one where the common one is. A submodule does not. */
function linkedWorktree(root: string, link: string): Repository | null {
  try {
    const target = /^gitdir: (.+?)\n?$/s.exec(readFileSync(link, "utf8"))?.[1] ?? "";
    const gitDir = realpathSync(resolve(root, target));
    const common = readFileSync(join(gitDir, "commondir"), "utf8").replace(/\n$/, "");
    const commonDir = realpathSync(resolve(gitDir, common));
    const isWhole = kindOf(join(gitDir, "HEAD")) === "file" && looksLikeGitDir(commonDir);
    return isWhole && isPlain(commonDir) ? { root, gitDir, commonDir } : null;
  } catch {
    return null; // git has the better words for it
  }
}

function looksLikeGitDir(path: string): boolean {
  return (
    kindOf(join(path, "HEAD")) === "file" &&
    kindOf(join(path, "objects")) === "folder" &&
    kindOf(join(path, "refs")) === "folder"
  );
}

/** A bare repository, or one whose work tree is elsewhere, says so in its configuration. */
function isPlain(gitDir: string): boolean {
  try {
    const config = readFileSync(join(gitDir, "config"), "latin1");
    return (
      !/^\s*(worktree|worktreeconfig)\b/im.test(config) && !/^\s*bare\s*(=\s*(?!false)\S|$)/im.test(config)
    );
  } catch {
    return false; // let git say what is wrong with it
  }
}

function kindOf(path: string): "file" | "folder" | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isDirectory() ? "folder" : "file";
}

async function askGit(cwd: string): Promise<Repository> {
  const git = createGit(cwd);
  const { code, stdout, stderr } = await git.run([
    "rev-parse",
    "--show-toplevel",
    "--absolute-git-dir",
    "--git-common-dir",
  ]);
  const [root, gitDir, commonDir] = Buffer.from(stdout, "latin1").toString("utf8").split("\n");
  if (code === 0 && root && gitDir && commonDir) {
    return {
      root,
      gitDir,
      commonDir: isAbsolute(commonDir) ? commonDir : resolve(realpathSync(cwd), commonDir),
    };
  }
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
