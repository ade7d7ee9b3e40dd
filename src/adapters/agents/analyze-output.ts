import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import type { Failure, SignalReport } from "../../core/report/agent-report.ts";
import { classifyFailure } from "../../core/report/classify-failure.ts";
import type { ExpectedPromise } from "../../core/report/read-promise.ts";
import { createSignalReader } from "../../core/report/read-signals.ts";
import { createTextWindow } from "../../core/report/text-window.ts";
import { createJsonLines } from "../../core/report/streams/json-lines.ts";
import { formatOf, type StreamFormat } from "../../core/report/streams/stream-format.ts";
import { createLineSplitter } from "../system/line-splitter.ts";
import { createStreamReader, STREAM_LINE_BYTES_MAX, type StreamAnalysis } from "./stream-reader.ts";

/** A saved output and what else is known of the process that printed it. */
export interface SavedOutput {
  /** A path, or `-` for our own stdin. */
  readonly file: string;
  readonly stderrFile: string | null;
  /** Null when nobody knows; then it ended well. */
  readonly exitCode: number | null;
  readonly promise: ExpectedPromise;
  readonly cwd: string;
  /** Null when it is to be found out. */
  readonly format: StreamFormat | "text" | null;
}

export interface Analysis {
  readonly format: StreamFormat | "text";
  readonly report: SignalReport;
  readonly failure: Failure | null;
  /** Null for plain text. */
  readonly stream: StreamAnalysis | null;
}

const STDERR_LENGTH = 8_000;
const LAST_LINES = 10;

/** Reads a saved output, of any size, as a run would have read it. */
export async function analyzeOutput(saved: SavedOutput): Promise<Analysis> {
  const chunks = readChunks(saved.file, saved.cwd);
  if (saved.format !== null) return analyzeAs(saved.format, chunks, saved);
  const { format, again } = await detect(chunks);
  return analyzeAs(format, again, saved);
}

type Chunks = AsyncIterable<Buffer>;

function analyzeAs(format: StreamFormat | "text", chunks: Chunks, saved: SavedOutput): Promise<Analysis> {
  return format === "text" ? analyzeText(chunks, saved) : analyzeStream(format, chunks, saved);
}

async function analyzeStream(format: StreamFormat, chunks: Chunks, saved: SavedOutput): Promise<Analysis> {
  const reader = createStreamReader(format, { prompt: "", promise: saved.promise, workspace: saved.cwd });
  await readLines(chunks, (line) => reader.stdoutLine(line), STREAM_LINE_BYTES_MAX);
  if (saved.stderrFile !== null)
    await readLines(readChunks(saved.stderrFile, saved.cwd), (line) => reader.stderrLine(line));
  const stream = reader.analyze({ is: "exited", code: saved.exitCode ?? 0 });
  return { format, report: stream.report, failure: stream.failure, stream };
}

async function analyzeText(chunks: Chunks, saved: SavedOutput): Promise<Analysis> {
  const reader = createSignalReader(saved.promise);
  const stderr = createTextWindow(STDERR_LENGTH);
  await readLines(chunks, (line) => reader.readLine(line));
  if (saved.stderrFile !== null)
    await readLines(readChunks(saved.stderrFile, saved.cwd), (line) => stderr.add(line, "plain"));
  const report = reader.report(null);
  if (saved.exitCode === null) return { format: "text", report, failure: null, stream: null };
  const errors = stderr.lines().map(({ text }) => text);
  const failure = classifyFailure(
    { is: "exited", code: saved.exitCode },
    { stderr: errors.join("\n"), lastLines: report.finalText.split("\n").slice(-LAST_LINES) },
    Date.now(),
    Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  return { format: "text", report: reader.report(failure), failure, stream: null };
}

const BEGINNING_BYTES = 256 * 1024;
/** A stream may have so many lines of noise for each event. */
const NOISE_MAX = 4;

/** Looks at the beginning, which is then read again. */
async function detect(chunks: Chunks): Promise<{ format: StreamFormat | "text"; again: Chunks }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const beginning: Buffer[] = [];
  let bytes = 0;
  while (bytes < BEGINNING_BYTES) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    beginning.push(value);
    bytes += value.length;
  }
  async function* again(): AsyncGenerator<Buffer> {
    yield* beginning;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { format: formatIn(Buffer.concat(beginning)), again: again() };
}

function formatIn(beginning: Buffer): StreamFormat | "text" {
  const found: StreamFormat[] = [];
  const lines = createJsonLines((json) => {
    const format = formatOf(json);
    if (format !== null) found.push(format);
  });
  const splitter = createLineSplitter((line) => lines.readLine(line));
  splitter.push(beginning);
  splitter.end();
  return found.length * NOISE_MAX >= lines.damagedLines() ? (found[0] ?? "text") : "text";
}

async function readLines(chunks: Chunks, onLine: (line: string) => void, bytesMax?: number): Promise<void> {
  const splitter = createLineSplitter(onLine, { lineBytesMax: bytesMax });
  for await (const chunk of chunks) splitter.push(chunk);
  splitter.end();
}

async function* readChunks(file: string, cwd: string): AsyncGenerator<Buffer> {
  const source = file === "-" ? process.stdin : createReadStream(resolve(cwd, file));
  try {
    yield* source as AsyncIterable<Buffer>;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new RalphError("usage", `${file} cannot be read${WHY[code] ?? (code && ` (${code})`)}`, {
      hint: "give a file with the saved output of an agent, or - for stdin",
      cause: error,
    });
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: ": there is no such file",
  EISDIR: ": it is a folder",
  EACCES: ": this user may not read it",
};
