import { constants } from "node:fs";
import { lstat, mkdtemp, open, rm, writeFile, type FileHandle } from "node:fs/promises";
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

/** The one place where programs on the agent's side meet us. The agent may do anything to it. */
export interface IterationFolder {
  readonly path: string;
  /** Adds a file that the agent is to find; before it starts. */
  write(name: string, text: string): Promise<void>;
  /** A file that the agent may have made; null when there is none, or a huge one. */
  read(name: string): Promise<string | null>;
  /** What the tools were told, oldest first; without what makes no sense. Never fails. */
  readReports(): Promise<readonly ToolReport[]>;
  dispose(): Promise<void>;
}

/** Of more than this the end is read, since there the last word stands. */
const READ_BYTES_MAX = 1024 * 1024;
const REPORTS_MAX = 1_000;
// On Windows some of these are missing, which counts as nothing in a sum of bits.
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export async function openIterationFolder(task: FolderTask): Promise<IterationFolder> {
  const prefix = join(tmpdir(), "ralph-iteration-");
  const path = await mkdtemp(prefix).catch((error: unknown) => {
    throw fileError(error, prefix);
  });
  const dispose = async (): Promise<void> => {
    // A folder that the agent made undeletable is left to whoever clears the temporary files.
    await rm(path, { recursive: true, force: true }).catch(() => {});
  };
  const write = async (name: string, text: string): Promise<void> => {
    const file = join(path, name);
    await writeFile(file, text, { mode: 0o600, flag: "wx" }).catch((error: unknown) => {
      throw fileError(error, file);
    });
  };
  try {
    await write(ITERATION_FILES.task, `${JSON.stringify(wireTask(task), null, 2)}\n`);
    const { dev, ino } = await lstat(path);
    const readHere = async (name: string): Promise<FileEnd | null> => {
      const now = await lstat(path).catch(() => null);
      // Another folder or a link in its place leads elsewhere.
      return now?.dev === dev && now.ino === ino ? readEnd(join(path, name)) : null;
    };
    return {
      path,
      write,
      async read(name) {
        const end = await readHere(name);
        return end?.isWhole === true ? end.text : null;
      },
      async readReports() {
        return reportsIn((await readHere(ITERATION_FILES.reports))?.text ?? "");
      },
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
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
async function readEnd(path: string): Promise<FileEnd | null> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    const from = Math.max(0, stats.size - READ_BYTES_MAX);
    const buffer = Buffer.alloc(stats.size - from);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    return { text: buffer.toString("utf8", 0, bytesRead), isWhole: from === 0 };
  } catch {
    return null; // most agents never make it, and what else is wrong there is the agent's doing
  } finally {
    await file?.close();
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
