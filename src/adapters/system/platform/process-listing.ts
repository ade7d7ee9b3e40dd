import type { Instant } from "../../../core/time.ts";

/** A process as a program of the system lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** Null where there are none. */
  readonly group: number | null;
  readonly cpuMs: number;
  /** Tells it from another that had its number before. To the second, where the system is no more exact. */
  readonly startedAt: Instant;
  /** Its command and, where the system shows it, its environment. */
  readonly words: readonly string[];
}

export interface ProcessListing {
  readonly command: readonly string[];
  readonly read: (printed: string) => readonly ListedProcess[];
}

/** How all processes are listed where there is no /proc. */
export function processListing(platform: NodeJS.Platform): ProcessListing {
  if (platform === "win32") {
    const command = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", POWERSHELL];
    return { command, read: (printed) => rowsOf(printed, readWindowsLine) };
  }
  // Of the system's own programs macOS shows no environment; those are found by their group and their parents.
  const options = platform === "darwin" ? ["-A", "-E", "-ww"] : ["axeww"];
  const command = ["ps", ...options, "-o", "pid=,ppid=,pgid=,stat=,time=,lstart=,command="];
  return { command, read: (printed) => rowsOf(printed, readPsLine) };
}

const POWERSHELL = [
  "Get-CimInstance Win32_Process",
  "Where-Object { $_.CreationDate }",
  "ForEach-Object { '{0} {1} {2} {3}' -f $_.ProcessId, $_.ParentProcessId, ([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds(), [long](($_.KernelModeTime + $_.UserModeTime) / 10000) }",
].join(" | ");

function rowsOf(printed: string, read: (line: string) => ListedProcess | null): readonly ListedProcess[] {
  return printed.split(/\r?\n/).flatMap((line) => read(line) ?? []);
}

const PS_LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+([\d:.-]+)\s+([A-Z][a-z]{2}\s+[A-Z][a-z]{2}\s+\d+\s+[\d:]{8}\s+\d{4})\s*(.*)$/;

function readPsLine(line: string): ListedProcess | null {
  const [, pid, parent, group, state = "", time = "", started = "", command = ""] = PS_LINE.exec(line) ?? [];
  // One that is dead, and only waits for its parent to notice, is nobody.
  if (pid === undefined || state.startsWith("Z")) return null;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    cpuMs: readCpuTime(time),
    startedAt: Date.parse(started),
    words: command.split(/\s+/),
  };
}

/** `1-02:03:04`, `02:03:04` or, on macOS, `123:04.56`. */
function readCpuTime(time: string): number {
  const [clock = "", days = "0"] = time.split("-").toReversed();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1_000);
}

function readWindowsLine(line: string): ListedProcess | null {
  const [, pid, parent, startedAt, cpuMs] = /^(\d+) (\d+) (\d+) (\d+)$/.exec(line.trim()) ?? [];
  if (pid === undefined) return null;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: null,
    cpuMs: Number(cpuMs),
    startedAt: Number(startedAt),
    words: [],
  };
}
