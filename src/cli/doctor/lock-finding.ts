import { relative } from "node:path";
import { removeLocks, staleLocksOf, type Project } from "../../compose-project.ts";
import type { Finding } from "./finding.ts";

/** Lock files of git that nobody holds: every git that wants to write fails there. */
export async function lockFinding(project: Project): Promise<Finding> {
  const locks = await staleLocksOf(project);
  if (locks.length === 0)
    return { name: "locks", well: true, found: "no git has left any behind", advice: null };
  const names = locks.map((lock) => relative(project.root, lock)).join(", ");
  return {
    name: "locks",
    well: false,
    found: `a git that died has left ${names}`,
    advice: "ralph doctor --fix removes it; a run of ours does, too",
    mend: async () => {
      await removeLocks(project);
      return `removed ${names}`;
    },
  };
}
