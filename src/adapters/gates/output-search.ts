import { StringDecoder } from "node:string_decoder";
import type { GateExpectation } from "../../core/settings.ts";
import { stripEscapes } from "../../core/words/strip-escapes.ts";

/** A link or a title that goes on for longer than this is taken for text. */
const ESCAPE_LENGTH_MAX = 4_096;

type OutputSearch = ReturnType<typeof createOutputSearch>;

/**
 * Looks for one text in everything that a stream brings, without keeping it. Colours and other escapes in the stream do
 * not matter, nor does the kind of its line ends.
 */
export function createOutputSearch(wanted: string) {
  const needle = wanted.replaceAll("\r\n", "\n");
  const decoder = new StringDecoder("utf8");
  let isFound = needle === "";
  /** The beginning of an escape or of a line end; the rest of it may come yet. */
  let open = "";
  /** The end of what was looked at: the text may begin in it. */
  let overlap = "";

  const look = (text: string): void => {
    const window = overlap + stripEscapes(text).replaceAll("\r\n", "\n");
    isFound = window.includes(needle);
    overlap = needle.length > 1 ? window.slice(1 - needle.length) : "";
  };
  return {
    take(chunk: Buffer): void {
      if (isFound) return;
      const text = open + decoder.write(chunk);
      open = OPEN.exec(text.slice(-ESCAPE_LENGTH_MAX))?.[0] ?? "";
      look(text.slice(0, text.length - open.length));
    },
    /** Whether the text was there; to be asked when the stream has ended. */
    isFound(): boolean {
      if (!isFound) look(open + decoder.end());
      open = "";
      return isFound;
    },
  };
}

/* oxlint-disable no-control-regex -- these characters are what it is about */
/** At the end of a chunk: what an escape of `stripEscapes`, or a line end, begins with. */
const OPEN = /(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[\]PX^_][^\x07\x1b\x9c]*\x1b?|\x1b[ -/]*|\r)$/;
/* oxlint-enable no-control-regex */

/** Compares what a gate prints with what is expected of it. */
export function watchOutput({ outputContains, outputNotContains }: GateExpectation) {
  // A text is in one stream or in the other: which piece comes after which is chance.
  const [wanted, refused] = [outputContains, outputNotContains].map((text) =>
    text === null ? [] : [createOutputSearch(text), createOutputSearch(text)],
  );
  const take = (stream: number) => (chunk: Buffer) => {
    wanted?.[stream]?.take(chunk);
    refused?.[stream]?.take(chunk);
  };
  const isIn = (searches: readonly OutputSearch[] = []): boolean =>
    searches.some((search) => search.isFound());
  return {
    takeStdout: take(0),
    takeStderr: take(1),
    /** What of the expectation is not met by the whole output; null when all is. */
    unmet(): string | null {
      if (outputContains !== null && !isIn(wanted))
        return `its output does not contain ${JSON.stringify(outputContains)}`;
      return isIn(refused) ? `its output contains ${JSON.stringify(outputNotContains)}` : null;
    },
  };
}

/** An exit code other than 0 speaks for itself where 0 is expected. */
export function unmetExit(code: number, { exitCode }: GateExpectation): string | null {
  if (code === exitCode || exitCode === 0) return null;
  return `it exited with ${code} instead of ${exitCode}`;
}
