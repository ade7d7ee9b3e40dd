import { createHash } from "node:crypto";
import { constants, lstatSync, mkdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { fileError } from "../system/file-error.ts";
import type { KeptFile } from "./kept-file.ts";

/** Everything one agent printed, on its way to a file. */
export interface TranscriptWriter {
  write(bytes: Buffer): Promise<void>;
  /** Size and hash of what was written, not of what somebody made of the file meanwhile. */
  close(): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** Closes the file if it is still open, whatever its state: the failure that led here is the one to tell. */
  abandon(): Promise<void>;
}

export interface StoredTranscript {
  readonly bytes: number;
  readonly sha256: string;
  readonly modifiedMs: number;
  readonly tail: string;
}

const TAIL_BYTES = 16 * 1024;
// On Windows some of these are missing, which counts as nothing in a sum of bits.
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** The folder of transcripts, made if need be; a link in its place could lead outside the repository. */
export function prepareLogs(ralphDir: string): string {
  const folder = join(ralphDir, "logs");
  try {
    mkdirSync(folder, { recursive: true });
    if (lstatSync(folder).isDirectory()) return folder;
  } catch (error) {
    throw fileError(error, folder);
  }
  throw new RalphError(
    "not-writable",
    `${folder} is a link to another place, and transcripts must stay inside`,
    {
      hint: `remove the link: rm ${folder}`,
    },
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
