import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { createGit } from "./git.ts";

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
