import { randomUUID } from "node:crypto";
import { stripEscapes } from "../../core/report/strip-escapes.ts";
import { supervise } from "./supervise.ts";

export interface Question {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

const PATIENCE_MS = 15_000;
const GRACE_MS = 500;
const OUTPUT_MAX = 64 * 1024;

/** What a program prints, as plain text; null when it prints nothing, fails, or takes too long. Nothing of it is left. */
export async function askProgram(
  program: string,
  args: readonly string[],
  { cwd, env, timeoutMs = PATIENCE_MS }: Question,
): Promise<string | null> {
  const printed: Buffer[] = [];
  let bytes = 0;
  const { ending } = await supervise(
    {
      command: [program, ...args],
      cwd,
      env: definedIn(env),
      marker: randomUUID(),
      timeoutMs,
      graceMs: GRACE_MS,
      onStdout(chunk) {
        if (bytes < OUTPUT_MAX) printed.push(chunk);
        bytes += chunk.length;
      },
      onStderr: () => {},
    },
    new AbortController().signal,
  );
  const said = stripEscapes(Buffer.concat(printed).toString("utf8")).trim();
  return ending.is === "exited" && ending.code === 0 && said !== "" ? said : null;
}

function definedIn(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
