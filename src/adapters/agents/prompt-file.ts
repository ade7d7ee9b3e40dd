import { lstatSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createFile } from "./kept-file.ts";

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
