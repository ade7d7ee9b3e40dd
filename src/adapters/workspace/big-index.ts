import { statSync } from "node:fs";
import { join } from "node:path";

export interface IndexPlace {
  readonly gitDir: string;
  /** From here on an index is big: whatever looks at all of its files takes long. */
  readonly bigIndexBytes: number;
}

/** About ten thousand files. */
export const BIG_INDEX_BYTES = 1_000_000;

export function hasBigIndex({ gitDir, bigIndexBytes }: IndexPlace): boolean {
  const index = statSync(join(gitDir, "index"), { throwIfNoEntry: false });
  return index !== undefined && index.size >= bigIndexBytes;
}
