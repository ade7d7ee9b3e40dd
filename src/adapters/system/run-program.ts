import { execFile } from "node:child_process";

/** How a short program ended. */
export interface Said {
  readonly isWell: boolean;
  /** Null when it did not start, or was ended. */
  readonly code: number | null;
  /** What it printed; the last line of its complaint when it failed. */
  readonly words: string;
}

const PATIENCE_MS = 120_000;
const OUTPUT_MAX = 64 * 1024 * 1024;

/** Runs a program to its end, without a shell and not for ever. */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Said> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: PATIENCE_MS, maxBuffer: OUTPUT_MAX };
    execFile(program, args, options, (error, stdout, stderr) => {
      const complaint = stderr.trim().split("\n").at(-1) ?? "";
      resolve(
        error === null
          ? { isWell: true, code: 0, words: stdout.trim() }
          : {
              isWell: false,
              code: typeof error.code === "number" ? error.code : null,
              words: complaint || error.message,
            },
      );
    });
  });
}
