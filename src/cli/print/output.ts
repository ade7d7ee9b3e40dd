import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { RalphError } from "../../core/errors.ts";
import type { CliContext } from "../commands.ts";

/** To standard output, or with `--out` into a file; `what` is "the report". */
export async function printOrWrite(
  text: string,
  out: string | undefined,
  what: string,
  { cwd, stdout, say }: CliContext,
): Promise<void> {
  if (out === undefined) {
    if (!stdout.write(text)) await untilDrained(stdout);
    return;
  }
  const file = resolve(cwd, out);
  try {
    writeFileSync(file, text);
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new RalphError("not-writable", `${file} cannot be written (${why})`, {
      hint: "name a file in a folder that is there: --out FILE",
      cause: error,
    });
  }
  say(`${what} is in ${file}`);
}

/** Waits for a slow reader; false when the reader is gone. */
export async function untilDrained(stream: NodeJS.WriteStream): Promise<boolean> {
  if (!stream.writableNeedDrain) return !stream.errored;
  try {
    await once(stream, "drain");
    return true;
  } catch {
    return false; // the stream's own handler reports it, if that is needed
  }
}
