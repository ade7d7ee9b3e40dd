import { chmodSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { entriesIn } from "./look-at.ts";

/**
 * Removes a folder, also with folders in it that nobody may write to, as overlays and tools leave them. What stays,
 * because somebody still writes there, is left to the next pass: it is no reason to fail.
 */
export async function removeTree(folder: string): Promise<void> {
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(() => {
    openFolders(folder);
    return remove().catch(() => undefined);
  });
}

function openFolders(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // somebody else's
  }
  for (const entry of entriesIn(folder)) if (entry.isDirectory()) openFolders(join(folder, entry.name));
}
