import type { Git } from "../git/git.ts";

/**
 * Lays the commit's `.gitattributes` into the workbench. Git looks for them in the work tree alone when it merges:
 * there they name the files that are binary, or merged by a driver.
 */
export async function layOutAttributes(git: Git, commit: string): Promise<void> {
  await git.must(["read-tree", commit]);
  const paths = await git.must(["ls-files", "-z", "--", ":(glob)**/.gitattributes"]);
  if (paths !== "") await git.must(["checkout-index", "--quiet", "-z", "--stdin"], { input: paths });
}
