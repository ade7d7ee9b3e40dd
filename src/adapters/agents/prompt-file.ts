import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWholeFile } from "./transcript.ts";

/**
 * Keeps the prompt beside the transcript, without secrets, and hands a file with the exact prompt to whoever reads
 * it from there. Where the two differ, that is a private copy which is gone afterwards.
 */
export async function withPromptFile<Result>(
  prompt: string,
  cleanPrompt: string,
  path: string,
  use: (promptFile: string) => Promise<Result>,
): Promise<Result> {
  writeWholeFile(path, cleanPrompt);
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
