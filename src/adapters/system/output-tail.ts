import { stripVTControlCharacters } from "node:util";

/** The end of what a command printed, on both its outputs, as they came. */
export interface OutputTail {
  readonly take: (chunk: Buffer) => void;
  /** The last lines as plain text, secrets hidden by `redact`. */
  readonly text: (redact: (text: string) => string) => string;
}

const LINES_KEPT = 200;
const BYTES_SHOWN = 16_384;
/** More than is shown: hiding a secret needs all of it. */
const BYTES_KEPT = 4 * BYTES_SHOWN;

export function createOutputTail(): OutputTail {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  return {
    take(chunk) {
      chunks.push(chunk.length > BYTES_KEPT ? chunk.subarray(-BYTES_KEPT) : chunk);
      isCut ||= chunk.length > BYTES_KEPT;
      bytes += Math.min(chunk.length, BYTES_KEPT);
      for (
        let first = chunks[0];
        first !== undefined && bytes - first.length >= BYTES_KEPT;
        first = chunks[0]
      ) {
        chunks.shift();
        bytes -= first.length;
        isCut = true;
      }
    },
    text(redact) {
      const all = Buffer.concat(chunks).toString("utf8");
      const whole = isCut ? all.slice(all.indexOf("\n") + 1) : all;
      return lastLines(redact(plain(whole)));
    },
  };
}

/** As a person would see it: no colours, and of a line that was rewritten only the last version. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .join("\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "");
}

function lastLines(text: string): string {
  const end = Buffer.from(text.trimEnd().split("\n").slice(-LINES_KEPT).join("\n"));
  if (end.length <= BYTES_SHOWN) return end.toString("utf8");
  const cut = end.subarray(-BYTES_SHOWN).toString("utf8");
  return cut.slice(cut.indexOf("\n") + 1).replace(/^\uFFFD+/, "");
}
