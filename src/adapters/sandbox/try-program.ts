import { randomUUID } from "node:crypto";
import { stripEscapes } from "../../core/report/strip-escapes.ts";
import { supervise } from "../system/supervise.ts";

const PATIENCE_MS = 10_000;
const GRACE_MS = 500;
const WORDS_LENGTH = 300;

/** Runs a program that should end well at once; answers what it complains of, null when it does not. */
export async function tryProgram(
  command: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string | null> {
  let words = "";
  const hear = (chunk: Buffer): void => {
    if (words.length < WORDS_LENGTH) words += chunk.toString("utf8");
  };
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { ending } = await supervise(
    {
      command,
      cwd,
      env: Object.fromEntries(defined),
      marker: randomUUID(),
      timeoutMs: PATIENCE_MS,
      graceMs: GRACE_MS,
      onStdout: () => {},
      onStderr: hear,
    },
    new AbortController().signal,
  );
  if (ending.is === "exited" && ending.code === 0) return null;
  if (ending.is === "not-started") return ending.message;
  const said = stripEscapes(words).trim().split("\n").slice(0, 2).join(" ").slice(0, WORDS_LENGTH);
  return said === "" ? `it ended without a word (${ending.is})` : said;
}
