import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import type { Failure } from "../../core/report/agent-report.ts";
import { classifyFailure } from "../../core/report/classify-failure.ts";
import type { ExpectedPromise } from "../../core/report/read-promise.ts";
import { createSignalReader } from "../../core/report/read-signals.ts";
import type { SignalReport } from "../../core/report/signals.ts";
import { createTextWindow } from "../../core/report/text-window.ts";
import { createLineSplitter } from "../system/line-splitter.ts";

/** A saved output and what else is known of the process that printed it. */
export interface SavedOutput {
  /** A path, or `-` for our own stdin. */
  readonly file: string;
  readonly stderrFile: string | null;
  /** Null when nobody knows; then it ended well. */
  readonly exitCode: number | null;
  readonly promise: ExpectedPromise;
  readonly cwd: string;
}

export interface Analysis {
  readonly report: SignalReport;
  readonly failure: Failure | null;
}

const STDERR_LENGTH = 8_000;
const LAST_LINES = 10;

/** Reads a saved output of plain text, of any size, as a run would have read it. */
export async function analyzeOutput(saved: SavedOutput): Promise<Analysis> {
  const reader = createSignalReader(saved.promise);
  const stderr = createTextWindow(STDERR_LENGTH);
  await readLines(saved.file, saved.cwd, (line) => reader.readLine(line));
  if (saved.stderrFile !== null)
    await readLines(saved.stderrFile, saved.cwd, (line) => stderr.add(line, "plain"));
  const report = reader.report(null);
  if (saved.exitCode === null) return { report, failure: null };
  const errors = stderr.lines().map(({ text }) => text);
  const failure = classifyFailure(
    { is: "exited", code: saved.exitCode },
    { stderr: errors.join("\n"), lastLines: report.finalText.split("\n").slice(-LAST_LINES) },
    Date.now(),
    Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  return { report: reader.report(failure), failure };
}

async function readLines(file: string, cwd: string, onLine: (line: string) => void): Promise<void> {
  const splitter = createLineSplitter(onLine);
  const source = file === "-" ? process.stdin : createReadStream(resolve(cwd, file));
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) splitter.push(chunk);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new RalphError("usage", `${file} cannot be read${WHY[code] ?? (code && ` (${code})`)}`, {
      hint: "give a file with the saved output of an agent, or - for stdin",
      cause: error,
    });
  }
  splitter.end();
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: ": there is no such file",
  EISDIR: ": it is a folder",
  EACCES: ": this user may not read it",
};
