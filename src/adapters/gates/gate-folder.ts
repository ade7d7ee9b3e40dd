import { statSync } from "node:fs";
import { safePath } from "../system/safe-path.ts";

export type GateFolder = { readonly path: string } | { readonly problem: string };

/** Where a gate runs: the workspace, or a folder in it. The agent can move folders, so one may be gone or lead away. */
export function gateFolder(workspace: string, cwd: string | null): GateFolder {
  if (cwd === null) return { path: workspace };
  try {
    const path = safePath(workspace, cwd);
    if (statSync(path).isDirectory()) return { path };
    return { problem: `its folder "${cwd}" is not a folder` };
  } catch (error) {
    // Whatever it is, the gate cannot run there, and that is for its owner to know.
    return { problem: `its folder "${cwd}" ${reason(error as NodeJS.ErrnoException)}` };
  }
}

function reason({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "not-writable":
      return "leads outside of the workspace";
    case "ENOENT":
    case "ENOTDIR":
      return "does not exist in the workspace";
    default:
      return `cannot be used: ${message}`;
  }
}
