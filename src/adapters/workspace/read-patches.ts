import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createLineSplitter } from "../system/line-splitter.ts";

/** One file's part of a patch. */
export interface Patch {
  readonly isBinary: boolean;
  /** Without the header; null where there is too much of it. */
  readonly hunks: string | null;
}

const PATCH_LENGTH_MAX = 200_000;
const KEPT_LENGTH_MAX = 4_000_000;
/** Whatever follows is not worth reading through it. */
const READ_LENGTH_MAX = 40_000_000;

/** The first parts of the patch that a git prints; it is ended when that is enough. */
export async function readPatches(
  git: ChildProcessWithoutNullStreams,
  wanted: number,
): Promise<readonly Patch[]> {
  const patches = new Patches(wanted);
  const lines = createLineSplitter((line) => patches.add(line), {
    lineBytesMax: PATCH_LENGTH_MAX + 1,
  });
  const closed = once(git, "close");
  git.stdin.end();
  git.stderr.resume();
  git.stdout.on("data", (chunk: Buffer) => {
    lines.push(chunk);
    if (patches.isEnough) git.kill();
  });
  await closed;
  lines.end();
  return patches.found();
}

class Patches {
  readonly #wanted: number;
  readonly #all: { isBinary: boolean; hunks: string | null }[] = [];
  #isInHunks = false;
  #kept = 0;
  #read = 0;
  isEnough = false;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  add(line: string): void {
    if (this.isEnough) return;
    // Inside of hunks every line begins with another character.
    if (line.startsWith("diff --git ")) return this.#begin();
    const patch = this.#all.at(-1);
    if (patch === undefined) return;
    if (line.startsWith("@@ ")) this.#isInHunks = true;
    if (this.#isInHunks) this.#extend(patch, `${line}\n`);
    else if (line.startsWith("Binary files ")) patch.isBinary = true;
  }

  found(): readonly Patch[] {
    return this.#all;
  }

  #begin(): void {
    this.#isInHunks = false;
    this.isEnough = this.#all.length === this.#wanted;
    if (!this.isEnough) this.#all.push({ isBinary: false, hunks: "" });
  }

  #extend(patch: { hunks: string | null }, line: string): void {
    this.#read += line.length;
    this.isEnough = this.#read > READ_LENGTH_MAX;
    if (patch.hunks === null) return;
    this.#kept += line.length;
    const isTooLong = patch.hunks.length + line.length > PATCH_LENGTH_MAX || this.#kept > KEPT_LENGTH_MAX;
    patch.hunks = isTooLong || this.isEnough ? null : patch.hunks + line;
  }
}
