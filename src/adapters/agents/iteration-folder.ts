import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskId } from "../../core/plan/task.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import { readToolReport, type ToolReport } from "../../core/report/tool-reports.ts";
import { fileError } from "../system/file-error.ts";

/** What the agent's side is told of the task. */
export interface FolderTask {
  readonly id: TaskId;
  readonly title: string;
  readonly description: string;
  readonly criteria: readonly string[];
  readonly stage: string;
  /** The task's own count, as in RALPH_ITERATION. */
  readonly iteration: number;
  readonly maxIterations: number;
}

/**
 * The one place where programs on the agent's side meet us. The agent may do anything to it. Its files are tiny, and
 * everything waits for them: done at once they take half of the time.
 */
export interface IterationFolder {
  readonly path: string;
  make(task: FolderTask): void;
  /** A file that the agent may have made; null when there is none, or a huge one. */
  read(name: string): string | null;
  /** What the tools were told, oldest first; without what makes no sense. Never fails. */
  readReports(): readonly ToolReport[];
  dispose(): void;
}

/** Of more than this the end is read, since there the last word stands. */
const READ_BYTES_MAX = 1024 * 1024;
const REPORTS_MAX = 1_000;
// On Windows some of these are missing, which counts as nothing in a sum of bits.
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Its place is known before it is made. */
export function iterationFolder(marker: string): IterationFolder {
  const path = pathOf(marker);
  let made: Pick<Stats, "dev" | "ino"> | null = null;
  const readHere = (name: string): FileEnd | null => {
    const now = lstatSync(path, { throwIfNoEntry: false });
    // Another folder or a link in its place leads elsewhere.
    const isOurs = now !== undefined && now.dev === made?.dev && now.ino === made.ino;
    return isOurs ? readEnd(join(path, name)) : null;
  };
  return {
    path,
    make(task) {
      makeFolder(marker);
      made = lstatSync(path);
      const file = join(path, ITERATION_FILES.task);
      try {
        writeFileSync(file, `${JSON.stringify(wireTask(task), null, 2)}\n`, { mode: 0o600, flag: "wx" });
      } catch (error) {
        throw fileError(error, file);
      }
    },
    read(name) {
      const end = readHere(name);
      return end?.isWhole === true ? end.text : null;
    },
    readReports: () => reportsIn(readHere(ITERATION_FILES.reports)?.text ?? ""),
    dispose() {
      try {
        removeIterationFolder(marker);
      } catch {
        // One that the agent made undeletable is left to whoever clears the temporary files.
      }
    },
  };
}

/** What an iteration has left whose process was killed. */
export function removeIterationFolder(marker: string): void {
  rmSync(pathOf(marker), { recursive: true, force: true });
}

function pathOf(marker: string): string {
  return join(tmpdir(), `ralph-iteration-${marker}`);
}

function makeFolder(marker: string): void {
  const path = pathOf(marker);
  try {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch {
      // One that was killed may have left its own.
      removeIterationFolder(marker);
      mkdirSync(path, { mode: 0o700 });
    }
  } catch (error) {
    throw fileError(error, path);
  }
}

function wireTask({ criteria, maxIterations, ...same }: FolderTask): Readonly<Record<string, unknown>> {
  return { ...same, acceptance_criteria: criteria, max_iterations: maxIterations };
}

interface FileEnd {
  readonly text: string;
  readonly isWhole: boolean;
}

/** Null for what is no file. */
function readEnd(path: string): FileEnd | null {
  let file: number | null = null;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const from = Math.max(0, stats.size - READ_BYTES_MAX);
    const buffer = Buffer.alloc(stats.size - from);
    const text = buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, from));
    return { text: from === 0 ? text : text.slice(text.indexOf("\n") + 1), isWhole: from === 0 };
  } catch {
    return null; // most agents never report, and what else is wrong there is the agent's doing
  } finally {
    if (file !== null) closeSync(file);
  }
}

function reportsIn(text: string): readonly ToolReport[] {
  const reports: ToolReport[] = [];
  for (const line of text.split("\n")) {
    const report = readToolReport(jsonOf(line));
    if (typeof report !== "string") reports.push(report);
  }
  return reports.slice(-REPORTS_MAX);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null; // the agent wrote it, or a write was cut short
  }
}
