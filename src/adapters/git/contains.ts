import type { Git } from "./git.ts";

/** Whether the commit has the other in its past, or is it. */
export async function contains(git: Git, commit: string, other: string): Promise<boolean> {
  return (await git.ask(["merge-base", "--is-ancestor", other, commit])).code === 0;
}
