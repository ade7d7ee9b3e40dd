import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { RalphError } from "../../core/ralph-error.ts";

/** One thing that was looked at; `advice` says what to do when it is not well. */
export interface Finding {
  readonly name: string;
  readonly well: boolean;
  readonly found: string;
  readonly advice: string | null;
}

export function problem(name: string, error: unknown): Finding {
  if (!(error instanceof RalphError)) throw error;
  return { name, well: false, found: error.message, advice: error.hint ?? null };
}

const PATIENCE_MS = 20_000;

/** What a program prints; null when it does not. */
export async function output(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], { cwd, env, timeout: PATIENCE_MS });
    return stdout.trim();
  } catch {
    return null; // whatever the cause, the answer is the same: it does not tell
  }
}
