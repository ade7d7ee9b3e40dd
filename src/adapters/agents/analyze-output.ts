import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { RalphError } from "../../core/errors.ts";
import type { Failure, SignalReport } from "../../core/streams/agent-report.ts";
import type { ExpectedPromise } from "../../core/words/read-promise.ts";
import type { StreamFormat } from "../../core/streams/stream-format.ts";
import { beginningOf } from "../../core/views/transcript.ts";
import { createLineSplitter } from "../process/line-splitter.ts";
import { createStreamReader, type StreamAnalysis } from "./stream-reader.ts";
import { createTextReader } from "./text-adapter.ts";

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

/** Reads a saved output, of any size, as a run would have read it. */
export async function analyzeOutput(saved: SavedOutput): Promise<Analysis> {
  const chunks = readChunks(saved.file, saved.cwd);
  if (saved.format !== null) return analyzeAs(saved.format, chunks, saved);
  const { format, again } = await detect(chunks);
  return analyzeAs(format, again, saved);
}

type Chunks = AsyncIterable<Buffer>;

async function analyzeAs(format: Analysis["format"], chunks: Chunks, saved: SavedOutput): Promise<Analysis> {
  const { promise, cwd, stderrFile } = saved;
  const request = { prompt: "", promise, workspace: cwd };
  const stream = format === "text" ? null : createStreamReader(format, request);
  const reader = stream ?? createTextReader(request);
  await readLines(chunks, (line) => reader.stdoutLine(line), stream?.lineBytesMax);
  if (stderrFile !== null) await readLines(readChunks(stderrFile, cwd), (line) => reader.stderrLine(line));
  const ending = { is: "exited", code: saved.exitCode ?? 0 } as const;
  if (stream === null) return { format, ...reader.analyze(ending), stream };
  const analysis = stream.analyze(ending);
  return { format, report: analysis.report, failure: analysis.failure, stream: analysis };
}

const BEGINNING_BYTES = 256 * 1024;
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
  return { format: beginningOf(Buffer.concat(beginning).toString().split("\n")).format, again: again() };
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
