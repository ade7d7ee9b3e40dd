import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeptFile } from "./kept-file.ts";

export interface PromptFile {
  readonly prompt: string;
  /** Without secrets: this is what is kept. */
  readonly cleanPrompt: string;
  /** Beside the transcript; opened before the agent could put anything else in its place. */
  readonly file: KeptFile;
  /** Whether the agent reads the file, and not its stdin. */
  readonly isRead: boolean;
}

/**
 * Keeps the prompt, and hands a file with the exact prompt to an agent that reads it from there. Where the two
 * differ, that is a private copy which is gone afterwards.
 */
export async function withPromptFile<Result>(
  { prompt, cleanPrompt, file, isRead }: PromptFile,
  use: (promptFile: string) => Promise<Result>,
): Promise<Result> {
  if (!isRead) {
    // Nobody waits for the file, so the agent does not either.
    const used = use(file.path);
    const kept = writeWhole(file, cleanPrompt);
    await Promise.allSettled([used, kept]);
    await kept;
    return used;
  }
  await writeWhole(file, cleanPrompt);
  if (cleanPrompt === prompt) return use(file.path);
  const folder = await mkdtemp(join(tmpdir(), "ralph-prompt-"));
  try {
    const copy = join(folder, "prompt.md");
    await writeFile(copy, prompt, { mode: 0o600 });
    return await use(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeWhole(file: KeptFile, text: string): Promise<void> {
  try {
    await file.write(Buffer.from(text));
  } finally {
    file.close();
  }
}
