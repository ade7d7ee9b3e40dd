import { lstatSync, mkdirSync, rmSync, writeFileSync, type Stats } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskId } from "../../core/plan/task.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import { readToolReport, type ToolReport } from "../../core/report/tool-reports.ts";
import { fileError } from "../system/file-error.ts";
import { readEnd, type FileEnd } from "../system/read-end.ts";

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

const REPORTS_MAX = 1_000;
/** Its place is known before it is made. */
export function iterationFolder(marker: string): IterationFolder {
  const path = pathOf(marker);
  let made: Pick<Stats, "dev" | "ino"> | null = null;
  const readHere = (name: string): FileEnd | null => {
    const now = lstatSync(path, { throwIfNoEntry: false });
    // Another folder or a link in its place leads elsewhere.
    const isOurs = now !== undefined && now.dev === made?.dev && now.ino === made.ino;
    return isOurs ? readEnd(join(path, name), { followsLinks: false }) : null;
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
