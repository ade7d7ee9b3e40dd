import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { temporaryRepository } from "../fixtures/temporary-repository.ts";
import { BASE, type Files, type RepositoryHands } from "./repository-hands.ts";

export interface GitHands extends RepositoryHands {
  /** For what belongs to the test and lies in no checkout. */
  readonly folder: string;
  readonly git: (...args: string[]) => string;
}

/** A real repository. Branches other than the one that is checked out are written without any checkout. */
export function gitHands(): GitHands {
  const repository = temporaryRepository();
  const { root } = repository;
  const git = (...args: string[]): string => repository.git(...args);
  const folder = dirname(root);
  let number = 0;
  const isThere = (branch: string): boolean => git("branch", "--list", branch) !== "";
  return {
    root,
    folder,
    git,
    async commit(branch, changes, { merged } = {}) {
      const parents = [git("rev-parse", isThere(branch) ? branch : BASE), ...(merged ? [merged] : [])];
      const tree = changedTree(root, join(folder, "index"), parents[0]!, changes);
      number += 1;
      const options = [...parents.flatMap((parent) => ["-p", parent]), "-m", `commit ${number}`];
      const commit = git("commit-tree", ...options, tree);
      if (git("branch", "--show-current") !== branch) git("update-ref", `refs/heads/${branch}`, commit);
      else moveCheckout(git, commit, Object.keys(changes));
      return commit;
    },
    tip: async (branch) => (isThere(branch) ? git("rev-parse", `refs/heads/${branch}`) : null),
    async move(branch, commit) {
      const ref = `refs/heads/${branch}`;
      git("update-ref", ...(commit === null ? ["-d", ref] : [ref, commit]));
    },
    async filesOf(commit) {
      const names = git("ls-tree", "-r", "--name-only", commit).split("\n").filter(Boolean);
      const text = (name: string): string =>
        execFileSync("git", ["cat-file", "blob", `${commit}:${name}`], { cwd: root, encoding: "utf8" });
      return Object.fromEntries(names.map((name) => [name, text(name)]));
    },
    async put(place, name, text) {
      if (text === null) rmSync(join(place, name));
      else writeFileSync(join(place, name), text);
    },
    filesIn: async (place) => (existsSync(place) ? filesBelow(place) : null),
    async switchTo(branch) {
      git("switch", "--quiet", branch);
    },
    everything: async () => ({
      refs: git("for-each-ref"),
      head: readFileSync(join(root, ".git/HEAD"), "utf8"),
      index: git("ls-files", "--stage"),
      worktrees: git("worktree", "list"),
      files: filesBelow(root),
    }),
    async dispose() {
      repository.dispose();
    },
  };
}

/** The tree of a commit with these changes, made in an index of its own. */
function changedTree(
  cwd: string,
  index: string,
  commit: string,
  changes: Readonly<Record<string, string | null>>,
): string {
  const env = { ...process.env, GIT_INDEX_FILE: index };
  const git = (args: readonly string[], input = ""): string =>
    execFileSync("git", args, { cwd, env, input, encoding: "utf8" }).trim();
  git(["read-tree", commit]);
  for (const [name, text] of Object.entries(changes)) {
    if (text === null) git(["update-index", "--force-remove", name]);
    else {
      const blob = git(["hash-object", "-w", "--stdin"], text);
      git(["update-index", "--add", "--cacheinfo", `100644,${blob},${name}`]);
    }
  }
  return git(["write-tree"]);
}

/** As after a commit of these paths in the checkout: what else lies there uncommitted stays. */
function moveCheckout(git: GitHands["git"], commit: string, paths: readonly string[]): void {
  git("reset", "--quiet", "--soft", commit);
  for (const path of paths) {
    const isGone = git("ls-tree", commit, path) === "";
    if (isGone) git("rm", "--quiet", "--force", "--ignore-unmatch", path);
    else git("checkout", "--quiet", commit, "--", path);
  }
}

function filesBelow(place: string): Files {
  const entries = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(place, join(entry.parentPath, entry.name)))
    .filter((path) => path !== ".git" && !path.startsWith(".git/"));
  return Object.fromEntries(entries.map((path) => [path, readFileSync(join(place, path), "utf8")]));
}
