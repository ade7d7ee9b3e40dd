import { join } from "node:path";
import { removeIfAbandoned } from "../system/abandoned-files.ts";
import { TEMPORARY_PREFIX } from "../system/atomic-file.ts";
import { textOf, type Git } from "./git.ts";

/**
 * What a dead process of ours was writing in a work tree: an agent that commits everything would commit it, and a
 * worktree would never be empty. What git cannot list here is told by whoever needs git next.
 */
export async function removeAbandoned(git: Git, root: string): Promise<void> {
  const pattern = `:(glob)**/${TEMPORARY_PREFIX}*`;
  const { stdout } = await git.run(["ls-files", "--others", "--exclude-standard", "-z", "--", pattern]);
  for (const path of stdout.split("\0")) if (path !== "") removeIfAbandoned(join(root, textOf(path)));
}
