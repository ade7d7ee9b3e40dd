import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** Where programs keep their state. */
export function stateHome(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
  home: string = env["HOME"] ?? homedir(),
): string {
  const chosen = env["XDG_STATE_HOME"] || (platform === "win32" ? env["LOCALAPPDATA"] : "");
  return chosen || (platform === "win32" ? win32 : posix).join(home, ".local", "state");
}
