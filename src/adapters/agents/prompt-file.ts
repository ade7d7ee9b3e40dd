import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWholeFile } from "./transcript.ts";

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
    // Nobody waits for the file, so the agent does not either.
    const used = use(path);
    const kept = writeWholeFile(path, cleanPrompt);
    await Promise.allSettled([used, kept]);
    await kept;
    return used;
  }
  await writeWholeFile(path, cleanPrompt);
  if (cleanPrompt === prompt) return use(path);
  const folder = await mkdtemp(join(tmpdir(), "ralph-prompt-"));
  try {
    const file = join(folder, "prompt.md");
    await writeFile(file, prompt, { mode: 0o600 });
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
