import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import { supervise } from "./supervise.ts";

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
  { cwd, env, timeoutMs = PATIENCE_MS }: Question,
): Promise<Said> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: timeoutMs, maxBuffer: OUTPUT_MAX };
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

interface Question {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

const ANSWER_MS = 15_000;
const GRACE_MS = 500;
const ANSWER_BYTES_MAX = 64 * 1024;

/** What a program prints, as plain text; null when it prints nothing, fails, or takes too long. Nothing of it is left. */
export async function askProgram(
  program: string,
  args: readonly string[],
  { cwd, env, timeoutMs = ANSWER_MS }: Question,
): Promise<string | null> {
  const printed: Buffer[] = [];
  let bytes = 0;
  const { ending } = await supervise(
    {
      command: [program, ...args],
      cwd,
      env,
      marker: randomUUID(),
      timeoutMs,
      graceMs: GRACE_MS,
      onStdout(chunk) {
        if (bytes < ANSWER_BYTES_MAX) printed.push(chunk);
        bytes += chunk.length;
      },
      onStderr: () => {},
    },
    new AbortController().signal,
  );
  const said = stripEscapes(Buffer.concat(printed).toString("utf8")).trim();
  return ending.is === "exited" && ending.code === 0 && said !== "" ? said : null;
}
