import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGit } from "./git.ts";

/**
 * Where a bare repository can be worked from: a checkout of its own HEAD inside of it, made once and brought up to date
 * at every start. Of any other folder: that folder.
 */
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
