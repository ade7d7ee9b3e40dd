import { delimiter, join, resolve, sep } from "node:path";

/**
 * The search path without the folders of our own installation: a user's tests must not run on the Node that we
 * bring along.
 */
export function outsidePath(path: string, ownRoot: string): string {
  const own = join(resolve(ownRoot), "node_modules") + sep;
  return path
    .split(delimiter)
    .filter((folder) => folder === "" || !`${resolve(folder)}${sep}`.startsWith(own))
    .join(delimiter);
}
