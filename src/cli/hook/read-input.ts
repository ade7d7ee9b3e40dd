import type { ReadStream } from "node:tty";
import { fieldsOf, type Fields } from "../../core/report/streams/json-fields.ts";
import { parsedJson } from "./read-file.ts";

/** Whoever calls us wrote it all at once; one that keeps the pipe open is not waited for. */
const SILENCE_MS = 500;
const INPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What an agent tells its hook on stdin; no fields when that is nothing, or garbage. */
export async function readInput(stdin: ReadStream): Promise<Fields> {
  if (stdin.isTTY) return {};
  const chunks: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, SILENCE_MS);
    stdin.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      timer.refresh();
      if (length > INPUT_BYTES_MAX) resolve();
    });
    for (const event of ["end", "error", "close"]) stdin.once(event, resolve);
    stdin.once("close", () => clearTimeout(timer));
  });
  stdin.destroy();
  return fieldsOf(parsedJson(Buffer.concat(chunks).toString("utf8")));
}
