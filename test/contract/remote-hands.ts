import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitHands, type GitHands } from "./git-hands.ts";
import { BASE } from "./repository-hands.ts";

/**
 * A clone on a worker's machine, and somebody elsewhere who commits and pushes. Branches are what the remote has; those
 * of tasks what the clone has, once it has them.
 */
export function remoteHands(): GitHands {
  const somebody = gitHands();
  const { folder } = somebody;
  const [hub, root] = [join(folder, "hub.git"), join(folder, "clone")];
  const run = (cwd: string, ...args: string[]): string =>
    execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();
  run(folder, "clone", "--quiet", "--bare", somebody.root, hub);
  run(folder, "clone", "--quiet", hub, root);
  const git = (...args: string[]): string => run(root, ...args);
  git("config", "user.name", "Operator");
  git("config", "user.email", "operator@example.com");
  somebody.git("checkout", "--quiet", "--detach");
  // Everybody sees everybody's commits, so that only names have to travel.
  const objects = [join(somebody.root, ".git/objects"), join(hub, "objects"), join(root, ".git/objects")];
  for (const own of objects) {
    mkdirSync(join(own, "info"), { recursive: true });
    writeFileSync(join(own, "info/alternates"), `${objects.filter((one) => one !== own).join("\n")}\n`);
  }
  const atHub = (ref: string): string | null =>
    run(hub, "for-each-ref", "--format=%(objectname)", ref).split("\n")[0] || null;
  const here = (branch: string): string | null =>
    git("for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`).split("\n")[0] || null;
  const plain = { ...somebody };
  return {
    ...plain,
    root,
    git,
    async commit(branch, changes, options) {
      const before = atHub(`refs/heads/${branch}`);
      if (before !== null) somebody.git("update-ref", `refs/heads/${branch}`, before);
      const commit = await plain.commit(branch, changes, options);
      run(hub, "update-ref", `refs/heads/${branch}`, commit);
      return commit;
    },
    async put(place, name, text) {
      if (text === null) rmSync(join(place, name), { force: true });
      else await plain.put(place, name, text);
    },
    async tip(branch) {
      const own = branch.startsWith("ralph/") ? here(branch) : null;
      return own ?? atHub(`refs/${branch}/`) ?? atHub(`refs/heads/${branch}`);
    },
    async move(branch, commit) {
      const ref = `refs/heads/${branch}`;
      run(hub, "update-ref", ...(commit === null ? ["-d", ref] : [ref, commit]));
    },
    async switchTo(branch) {
      git("fetch", "--quiet");
      git("switch", "--quiet", branch);
    },
    everything: async () => ({
      hub: run(hub, "for-each-ref", "refs/heads"),
      refs: git("for-each-ref", `refs/heads/${BASE}`, "refs/remotes"),
      head: readFileSync(join(root, ".git/HEAD"), "utf8"),
      base: git("rev-parse", BASE),
      index: git("ls-files", "--stage"),
      worktrees: git("worktree", "list"),
      files: await plain.filesIn(root),
    }),
  };
}
