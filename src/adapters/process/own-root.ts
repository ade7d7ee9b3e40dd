import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where we are installed, looked for upwards: the folder may be one of the sources or of the bundle. */
export function ownRoot(folder: string): string {
  return existsSync(join(folder, "package.json")) || folder === dirname(folder)
    ? folder
    : ownRoot(dirname(folder));
}
