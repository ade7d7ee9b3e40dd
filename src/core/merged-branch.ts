/** Where the branch of a task is kept when its work is merged. */
export function mergedBranch(branch: string): string {
  return branch.replace(/^ralph\//, "ralph/merged/");
}
