import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "../git/find-repository.ts";
import { removeStaleLocks } from "../git/stale-locks.ts";
import { withFolder } from "./workbench.ts";

/** Removes the locks that a killed git left on a checkout, and on these references. */
export async function removeLocks(
  repository: Repository,
  scratch: string,
  refs: readonly string[],
): Promise<void> {
  const { root, gitDir, commonDir } = repository;
  await removeStaleLocks(repository);
  await withFolder(scratch, async (folder) => {
    // Locks are looked for where HEAD points to: so it is shown one that points there.
    const lookAt = async (holder: string, ref: string): Promise<void> => {
      writeFileSync(join(folder, "HEAD"), `ref: ${ref}\n`);
      await removeStaleLocks({ root, gitDir: folder, commonDir: holder });
    };
    for (const ref of refs) await lookAt(commonDir, ref);
    await lookAt(gitDir, "refs/../ORIG_HEAD");
  });
}
