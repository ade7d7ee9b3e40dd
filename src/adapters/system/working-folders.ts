import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { THIS_PLATFORM } from "./platform/this-platform.ts";
import { workingFolderListing } from "./platform/working-folder-listing.ts";
import { listPids } from "./process-table.ts";

const PATIENCE_MS = 10_000;

/** Of somebody else's program, which does not tell. */
export const HIDDEN = "";

/** The folders in which programs work whose name begins so; null where nobody can tell. */
export function workingFolders(program: string): readonly string[] | null {
  const pids = listPids();
  if (pids === null) return listed(program);
  return pids.flatMap((pid) => (pid === process.pid ? [] : (folderOf(pid, program) ?? [])));
}

function folderOf(pid: number, program: string): string | null {
  try {
    if (!readFileSync(`/proc/${pid}/comm`, "utf8").startsWith(program)) return null;
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    // Gone meanwhile; or another user's, of which we cannot know where it works.
    return (error as NodeJS.ErrnoException).code === "EACCES" ? HIDDEN : null;
  }
}

/** The exit code says no more than that there are none. */
function listed(program: string): readonly string[] | null {
  const listing = workingFolderListing(THIS_PLATFORM, program);
  if (listing === null) return null;
  const [lister = "", ...args] = listing.command;
  const { error, stdout } = spawnSync(lister, args, { encoding: "utf8", timeout: PATIENCE_MS });
  return error === undefined ? listing.read(stdout) : null;
}
