import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { RalphError } from "../core/ralph-error.ts";
import type { CliContext } from "./commands.ts";
import { untilDrained } from "./project-state.ts";

/** To standard output, or with `--out` into a file; `what` is "the report". */
export async function printOrWrite(
  text: string,
  out: string | undefined,
  what: string,
  { cwd, stdout, stderr }: CliContext,
): Promise<void> {
  if (out === undefined) {
    if (!stdout.write(text)) await untilDrained(stdout);
    return;
  }
  const file = resolve(cwd, out);
  write(file, text);
  stderr.write(`ralph: ${what} is in ${file}\n`);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new RalphError("not-writable", `${file} cannot be written (${codeOf(error)})`, {
      hint: "name a file in a folder that is there: --out FILE",
      cause: error,
    });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
