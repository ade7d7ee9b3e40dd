import { asArgument } from "../../core/text.ts";
import { createHash } from "node:crypto";
import { closeSync, constants, lstatSync, mkdirSync, openSync, rmSync, writev } from "node:fs";
import { type FileHandle, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { RalphError } from "../../core/ralph-error.ts";
import { fileError } from "../system/atomic-file.ts";

/** Everything one agent printed, on its way to a file. */
interface TranscriptWriter {
  write(bytes: Buffer): Promise<void>;
  /** Size and hash of what was written, not of what somebody made of the file meanwhile. */
  close(): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** Closes the file if it is still open, whatever its state: the failure that led here is the one to tell. */
  abandon(): Promise<void>;
}

interface StoredTranscript {
  readonly bytes: number;
  readonly sha256: string;
  readonly modifiedMs: number;
  readonly tail: string;
}

const TAIL_BYTES = 16 * 1024;
/** The folder of transcripts, made if need be; a link in its place could lead outside the repository. */
export function prepareLogs(ralphDir: string): string {
  const folder = join(ralphDir, "logs");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (lstatSync(folder).isDirectory()) return folder;
  } catch (error) {
    throw fileError(error, folder);
  }
  throw new RalphError(
    "not-writable",
    `${folder} is a link to another place, and transcripts must stay inside`,
    { hint: `remove the link: rm ${asArgument(folder)}` },
  );
}

/** Writes in the order of the calls; what comes while the disk is busy goes there together. */
export function createTranscriptWriter(file: KeptFile): TranscriptWriter {
  const hash = createHash("sha256");
  let bytes = 0;
  let waiting: Buffer[] = [];
  let last: Promise<void> = Promise.resolve();
  const writeWaiting = async (): Promise<void> => {
    const chunks = waiting;
    waiting = [];
    await file.write(chunks);
    for (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  };
  return {
    async write(chunk) {
      waiting.push(chunk);
      if (waiting.length === 1) last = last.then(writeWaiting);
      return last;
    },
    async close() {
      await last;
      file.close();
      return { bytes, sha256: hash.digest("hex") };
    },
    async abandon() {
      await last.catch(() => {});
      file.close();
    },
  };
}

/** Null when there is no such file. */
export async function readStoredTranscript(path: string): Promise<StoredTranscript | null> {
  let file: FileHandle;
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null; // the agent may never have come that far
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    const hash = createHash("sha256");
    let bytes = 0;
    let tail: Buffer = Buffer.alloc(0);
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    }
    return { bytes, sha256: hash.digest("hex"), modifiedMs: stats.mtimeMs, tail: tail.toString() };
  } finally {
    await file.close();
  }
}

/** A file that is written through its descriptor: whatever an agent puts under its name meanwhile is another file. */
export interface KeptFile {
  readonly path: string;
  /** All of them, one after the other. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /** May be repeated. */
  close(): void;
}

const writeSome = promisify(writev);
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Makes the file anew: whatever stood there under its name (a link, a pipe) is gone, not followed. */
export function createFile(path: string): KeptFile {
  // Opened at once: a trip through the thread pool is a millisecond for which the agent would wait.
  const make = (): number => openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    return keptFile(makeAfresh(make, path), path);
  } catch (error) {
    throw fileError(error, path);
  }
}

export function keptFile(descriptor: number, path: string): KeptFile {
  let isOpen = true;
  return {
    path,
    async write(chunks) {
      try {
        for (let rest = chunks; rest.length > 0;)
          rest = without((await writeSome(descriptor, rest)).bytesWritten, rest);
      } catch (error) {
        throw fileError(error, path);
      }
    },
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

/** What is left of the chunks when so many bytes are written. */
function without(written: number, chunks: readonly Buffer[]): readonly Buffer[] {
  const [first, ...rest] = chunks;
  if (first === undefined) return [];
  return written < first.length ? [first.subarray(written), ...rest] : without(written - first.length, rest);
}

function makeAfresh(make: () => number, path: string): number {
  try {
    return make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    rmSync(path);
    return make();
  }
}

export interface PromptFile {
  readonly prompt: string;
  /** Without secrets: this is what is kept. */
  readonly cleanPrompt: string;
  /** Beside the transcript. */
  readonly path: string;
  /** Whether the agent reads the file, and not its stdin. */
  readonly isRead: boolean;
}

/**
 * Keeps the prompt, and hands a file with the exact prompt to an agent that reads it from there. Where the two
 * differ, that is a private copy which is gone afterwards.
 */
export async function withPromptFile<Result>(
  { prompt, cleanPrompt, path, isRead }: PromptFile,
  use: (promptFile: string) => Promise<Result>,
): Promise<Result> {
  if (!isRead) {
    // Nobody waits for the file, so the agent does not wait for it either.
    const used = use(path);
    const kept = keepIfPossible(path, cleanPrompt);
    await Promise.allSettled([used, kept]);
    await kept;
    return used;
  }
  await writeWhole(path, cleanPrompt);
  if (cleanPrompt === prompt) return use(path);
  const folder = await mkdtemp(join(tmpdir(), "ralph-prompt-"));
  try {
    const copy = join(folder, "prompt.md");
    await writeFile(copy, prompt, { mode: 0o600 });
    return await use(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The agent runs by now, and may have cleaned up: then there is no place for it any more. */
async function keepIfPossible(path: string, text: string): Promise<void> {
  if (lstatSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true) return;
  try {
    await writeWhole(path, text);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}

async function writeWhole(path: string, text: string): Promise<void> {
  const file = createFile(path);
  try {
    await file.write([Buffer.from(text)]);
  } finally {
    file.close();
  }
}
