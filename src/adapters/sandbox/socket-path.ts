import { closeSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";

/** The kernel's limit. */
const PATH_MAX = 107;

/** A socket by a path that is short enough: where its own is not, through the open folder in which it lies. */
export function socketPath(socket: string): { readonly path: string; readonly letGo: () => void } {
  if (Buffer.byteLength(socket) <= PATH_MAX) return { path: socket, letGo: () => {} };
  const folder = openSync(dirname(socket), "r");
  return { path: `/proc/self/fd/${folder}/${basename(socket)}`, letGo: () => closeSync(folder) };
}
