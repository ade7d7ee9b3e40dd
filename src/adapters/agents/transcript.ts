import { asArgument } from "../../core/text.ts";
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  createReadStream,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writev,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { RalphError } from "../../core/errors.ts";
import { fileError } from "../process/atomic-file.ts";

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

const writeSome = promisify(writev);
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Everything one agent printed, on its way to a file. Writes in the order of the calls; what comes while the disk is busy goes there together. All goes through the
 * descriptor: whatever an agent puts under the file's name meanwhile is another file.
 */
export function createTranscript(path: string, descriptor = makeFile(path)) {
  const hash = createHash("sha256");
  let bytes = 0;
  let isOpen = true;
  let waiting: Buffer[] = [];
  let last: Promise<void> = Promise.resolve();
  const writeWaiting = async (): Promise<void> => {
    const chunks = waiting;
    waiting = [];
    try {
      // Joined into one they would take several times the memory.
      for (let rest = chunks; rest.length > 0;)
        rest = without((await writeSome(descriptor, rest)).bytesWritten, rest);
    } catch (error) {
      throw fileError(error, path);
    }
    for (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  };
  const closeFile = (): void => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  return {
    async write(chunk: Buffer): Promise<void> {
      waiting.push(chunk);
      if (waiting.length === 1) last = last.then(writeWaiting);
      return last;
    },
    /** Answers size and hash of what was written, not of what somebody made of the file meanwhile. */
    async close() {
      await last;
      closeFile();
      return { bytes, sha256: hash.digest("hex") };
    },
    /** Closes the file if it is still open, whatever its state: the failure that led here is the one to tell. */
    async abandon() {
      await last.catch(() => {});
      closeFile();
    },
  };
}

/** The chunks that remain after so many bytes are written. */
function without(written: number, chunks: Buffer[]): Buffer[] {
  const [first, ...rest] = chunks;
  if (first === undefined) return [];
  return written < first.length ? [first.subarray(written), ...rest] : without(written - first.length, rest);
}

/** Makes the file anew: whatever stood there under its name (a link, a pipe) is gone, not followed. */
function makeFile(path: string): number {
  try {
    rmSync(path, { force: true });
    return openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Null when there is no such file: the agent may never have come that far. */
export async function readStoredTranscript(path: string) {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return null;
  const hash = createHash("sha256");
  let bytes = 0;
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
  }
  return { bytes, sha256: hash.digest("hex"), modifiedMs: stats.mtimeMs, tail: tail.toString() };
}

/** A redacted copy of the prompt is kept beside the transcript. */
export interface PromptFile {
  readonly prompt: string;
  readonly cleanPrompt: string;
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
  const file = makeFile(path);
  try {
    writeFileSync(file, cleanPrompt);
  } catch (error) {
    throw fileError(error, path);
  } finally {
    closeSync(file);
  }
  if (!isRead || cleanPrompt === prompt) return use(path);
  const folder = mkdtempSync(join(tmpdir(), "ralph-prompt-"));
  try {
    const copy = join(folder, "prompt.md");
    writeFileSync(copy, prompt, { mode: 0o600 });
    return await use(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
