import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** The system that we run on. Everyone else asks a function of this folder, which is told the platform. */
export const THIS_PLATFORM: NodeJS.Platform = process.platform;

/** Bubblewrap is made of namespaces, which Linux alone has. */
export function hasNamespaces(platform: NodeJS.Platform): boolean {
  return platform === "linux";
}

/** Whether agents keep their logins where a look would make the system ask the person. */
export function hasKeychain(platform: NodeJS.Platform): boolean {
  return platform === "darwin";
}

/** The names by which npm packages call a platform: on Linux there is one for each C library. */
export function packagePlatforms(platform: NodeJS.Platform): readonly string[] {
  return platform === "linux" ? ["linux", "linuxmusl"] : [platform];
}

export function stateHome(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
  home: string = env["HOME"] ?? homedir(),
): string {
  const chosen = env["XDG_STATE_HOME"] || (platform === "win32" ? env["LOCALAPPDATA"] : "");
  return chosen || (platform === "win32" ? win32 : posix).join(home, ".local", "state");
}

/** On Windows names have no case, but a copy does: `Path` becomes PATH, and the user's folder HOME. */
export function settledEnvironment(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (platform !== "win32") return env;
  const settled = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      NAMES.has(name.toUpperCase()) ? name.toUpperCase() : name,
      value,
    ]),
  );
  return { ...settled, HOME: settled["HOME"] ?? settled["USERPROFILE"] };
}

const NAMES: ReadonlySet<string> = new Set(["PATH", "PATHEXT", "HOME", "USERPROFILE", "LOCALAPPDATA"]);

/** A command line for the system's own shell, as a program and its arguments. */
interface ShellCommand {
  readonly command: readonly string[];
  /** The arguments go to the program as they stand: its own rules of quoting are not those of other programs. */
  readonly isVerbatim: boolean;
}

/** What reads a command line that a person has written: a gate, a set-up, a command for notices. */
export function shellCommand(platform: NodeJS.Platform, line: string): ShellCommand {
  return platform === "win32"
    ? { command: ["cmd.exe", "/d", "/s", "/c", `"${line}"`], isVerbatim: true }
    : { command: ["sh", "-c", line], isVerbatim: false };
}

/** The files that a program's name may stand for, in the order in which they count. */
export function programFiles(
  platform: NodeJS.Platform,
  name: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const isWindows = platform === "win32";
  const path = isWindows ? win32 : posix;
  const hasFolder = (isWindows ? /[/\\]/ : /\//).test(name);
  const folders = hasFolder ? [cwd] : (env["PATH"] ?? "").split(path.delimiter);
  const paths = folders.map((folder) => path.resolve(cwd, folder, name));
  return isWindows ? paths.flatMap((file) => withEndings(file, env["PATHEXT"] ?? ENDINGS)) : paths;
}

const ENDINGS = ".COM;.EXE;.BAT;.CMD";

/** Windows runs nothing without one of these endings. */
function withEndings(path: string, known: string): readonly string[] {
  const endings = known.split(";").filter((ending) => ending !== "");
  const hasOne = endings.some((ending) => path.toLowerCase().endsWith(ending.toLowerCase()));
  return hasOne ? [path] : endings.map((ending) => `${path}${ending.toLowerCase()}`);
}

/** How a process is started so that it can be ended with all that it starts. */
interface TreeStart {
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
type TreeEnd = { readonly target: number } | { readonly command: readonly string[] };

/** Without /F Windows only asks, and many do not hear it. It takes along what a process has started. */
export function treeEnd(platform: NodeJS.Platform, target: number, isForced: boolean): TreeEnd {
  if (platform !== "win32") return { target };
  return { command: ["taskkill.exe", "/PID", String(Math.abs(target)), "/T", ...(isForced ? ["/F"] : [])] };
}

/** A program that keeps the machine awake; null where we know none. Each ends by itself when we are gone. */
export function keepAwakeCommand(platform: NodeJS.Platform, pid: number): readonly string[] | null {
  switch (platform) {
    case "linux": {
      const what = ["--what=idle:sleep", "--who=ralph", "--why=an agent is at work", "--mode=block"];
      return ["systemd-inhibit", ...what, "cat"];
    }
    case "darwin":
      return ["caffeinate", "-i", "-w", String(pid)];
    case "win32":
      return ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", POWERSHELL];
    default:
      return null;
  }
}

/** The system is required, until the thread that said so is gone. */
const POWERSHELL = [
  `$power = Add-Type -PassThru -Namespace Ralph -Name Power -MemberDefinition '[DllImport("kernel32.dll")] public static extern uint SetThreadExecutionState(uint flags);'`,
  "[void]$power::SetThreadExecutionState([uint32]2147483649)",
  "[void][Console]::In.ReadToEnd()",
].join("; ");

interface WorkingFolderListing {
  readonly command: readonly string[];
  readonly read: (printed: string) => readonly string[];
}

/** How the folders are listed in which programs of a name work, where there is no /proc; null where nobody tells. */
export function workingFolderListing(
  platform: NodeJS.Platform,
  program: string,
): WorkingFolderListing | null {
  if (platform === "win32") return null;
  return { command: ["lsof", "-a", "-c", program, "-d", "cwd", "-Fn"], read: readLsof };
}

/** One field a line, its first letter says which: `p` a process, `f` a file of it, `n` the name of that. */
function readLsof(printed: string): readonly string[] {
  return printed.split("\n").flatMap((line) => (line.startsWith("n") ? [line.slice(1)] : []));
}
