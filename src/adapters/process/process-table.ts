import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
} from "node:fs";
import { delimiter, resolve } from "node:path";

/** A line of the system's process table. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Processor time that it has used, and children of its that have ended and been noticed. */
  readonly cpuMs: number;
}

/** The ids of all processes; null where the system has no /proc to look at. */
export function listPids(): readonly number[] | null {
  let names: readonly string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return null; // not Linux
  }
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid));
  return pids.includes(process.pid) ? pids : null;
}

/** "ended": gone, or dead and only waits for its parent to notice. "system": a part of the system itself. */
export function readProcess(pid: number): ProcessRow | "ended" | "system" {
  const stat = readProcFile(`/proc/${pid}/stat`)?.toString("latin1");
  if (stat === undefined) return "ended";
  // The name of the program comes second, in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 15);
  const [state, parent, group, session, , , flags] = fields;
  if ((Number(flags) & KERNEL_THREAD) !== 0) return "system";
  if (state === undefined || state === "Z" || state === "X") return "ended";
  const cpuMs = TICK_MS * fields.slice(CPU_FIELD).reduce((sum, ticks) => sum + Number(ticks), 0);
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), cpuMs };
}

/** The first of four: in the program and in the system, its own and its children's. */
const CPU_FIELD = 11;
/** Linux counts the time that it shows in hundredths of a second, whatever its own clock. */
const TICK_MS = 10;

const KERNEL_THREAD = 0x20_0000;

/**
 * Whether the process was started with exactly this entry (`NAME=value`) in its environment. A process that is just
 * becoming another program has none for a moment; whoever must be sure looks again.
 */
export function findEnvironmentEntry(pid: number, entry: string): "there" | "absent" | "unknown" {
  const environ = readProcFile(`/proc/${pid}/environ`);
  if (environ === null) return "absent";
  if (environ.length === 0) return "unknown";
  const wanted = Buffer.from(`\0${entry}\0`);
  const isFirst = environ.subarray(0, wanted.length - 1).equals(wanted.subarray(1));
  return isFirst || environ.includes(wanted) ? "there" : "absent";
}

/**
 * A limit that Linux keeps for each process, gives to its children, and makes nothing of since 2003: a process that leaves
 * its session and clears its environment still has it. Nobody but root can raise it.
 */
export function hasLimit(pid: number, limit: string): boolean {
  return limitAt(`/proc/${pid}/limits`) === limit;
}

function limitAt(path: string): string | undefined {
  return /^Max file locks +\S+ +(\w+)/m.exec(readProcFile(path)?.toString("latin1") ?? "")?.[1];
}

export function limitOf(entry: string): string {
  const number = createHash("sha256").update(entry).digest().readBigUInt64BE() >> 2n;
  return String(number | (1n << 61n));
}

const SETS_LIMITS = ["/usr/bin/prlimit", "/bin/prlimit", "/run/current-system/sw/bin/prlimit"];
let prlimit: string | null | undefined;

/** What a command begins with so that its children are known by their limit; null where the system has nothing for it. */
export function limiting(entry: string): readonly string[] | null {
  // Below another of us there is no telling one from the other.
  const isFree = prlimit === undefined && limitAt("/proc/self/limits") === "unlimited";
  prlimit ??= isFree ? (SETS_LIMITS.find(isExecutable) ?? null) : null;
  return prlimit === null ? null : [prlimit, `--locks=${limitOf(entry)}:${limitOf(entry)}`, "--"];
}

/** The file that a program's name stands for on this machine, or null. */
export function findProgram(name: string, cwd: string, env: NodeJS.ProcessEnv): string | null {
  const folders = name.includes("/") ? [cwd] : (env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => resolve(cwd, folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not ours to run: either way it is not the program.
    return false;
  }
}

const scratch = Buffer.alloc(256 * 1024);

/** The file's bytes, valid until the next call; null when the process is gone or somebody else's. */
function readProcFile(path: string): Buffer | null {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return null; // gone, or not ours to look at
  }
  try {
    return readAll(file);
  } catch {
    return null; // it went away while we read
  } finally {
    closeSync(file);
  }
}

function readAll(file: number): Buffer {
  let buffer = scratch;
  for (let length = 0; ;) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const count = readSync(file, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
  }
}

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

/** Without /proc, lsof tells. Its exit code says no more than that there are none. */
function listed(program: string): readonly string[] | null {
  const args = ["-a", "-c", program, "-d", "cwd", "-Fn"];
  const { error, stdout } = spawnSync("lsof", args, { encoding: "utf8", timeout: PATIENCE_MS });
  return error === undefined ? readLsof(stdout) : null;
}

/** One field a line, its first letter says which: `p` a process, `f` a file of it, `n` the name of that. */
export function readLsof(printed: string): readonly string[] {
  return printed.split("\n").flatMap((line) => (line.startsWith("n") ? [line.slice(1)] : []));
}

/** The files that our own output goes to, as far as the system tells: Linux does. */
export function ownOutput(): readonly string[] {
  return [1, 2].flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return []; // closed, or a system without /proc
    }
  });
}

/** A process as `ps` lists it. */
export interface ListedProcess extends Omit<ProcessRow, "session"> {
  /** Its command and, where the system shows it, its environment. */
  readonly words: readonly string[];
}

const OUTPUT_MAX = 64 * 1024 * 1024;

/** All processes, for a system without /proc: macOS. */
export function listProcesses(): readonly ListedProcess[] {
  // Of the system's own programs macOS shows no environment; those are found by their group and their parents.
  const options = process.platform === "darwin" ? ["-A", "-E", "-ww"] : ["axeww"];
  try {
    const printed = execFileSync("ps", [...options, "-o", "pid=,ppid=,pgid=,stat=,time=,command="], {
      encoding: "utf8",
      // Without our own environment, which may hold the entry that is looked for.
      env: { PATH: process.env["PATH"], LC_ALL: "C" },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PATIENCE_MS,
      maxBuffer: OUTPUT_MAX,
    });
    return printed.split("\n").flatMap((line) => readPsLine(line) ?? []);
  } catch {
    return []; // too slow
  }
}

const PS_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+([\d:.-]+)\s*(.*)$/;

export function readPsLine(line: string): ListedProcess | null {
  const [, pid, parent, group, state = "", time = "", command = ""] = PS_LINE.exec(line) ?? [];
  // One that is dead, and only waits for its parent to notice, is nobody.
  if (pid === undefined || state.startsWith("Z")) return null;
  const words = command.split(/\s+/);
  return { pid: Number(pid), parent: Number(parent), group: Number(group), cpuMs: readCpuTime(time), words };
}

/** `1-02:03:04`, `02:03:04` or, on macOS, `123:04.56`. */
function readCpuTime(time: string): number {
  const [clock = "", days = "0"] = time.split("-").toReversed();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1_000);
}
