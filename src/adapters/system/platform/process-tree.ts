/** How a process is started so that it can be ended with all that it starts. */
export interface TreeStart {
  readonly detached: boolean;
  readonly windowsHide: true;
}

/**
 * Elsewhere it leads a session and a group of its own, which Ctrl-C does not reach. Windows knows no groups that can be
 * signalled; there a process that is not detached ends with us, even if we are killed.
 */
export function ownTree(platform: NodeJS.Platform): TreeStart {
  return { detached: platform !== "win32", windowsHide: true };
}

/** How one is told to end: by a signal to a process or, below zero, to a group; or by a program that does it. */
export type TreeEnd = { readonly target: number } | { readonly command: readonly string[] };

/** Without /F Windows only asks, and many do not hear it. It takes along what a process has started. */
export function treeEnd(platform: NodeJS.Platform, target: number, isForced: boolean): TreeEnd {
  if (platform !== "win32") return { target };
  return { command: ["taskkill.exe", "/PID", String(Math.abs(target)), "/T", ...(isForced ? ["/F"] : [])] };
}
