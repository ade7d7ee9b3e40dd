import { StringDecoder } from "node:string_decoder";
import { stripEscapes } from "../../core/report/strip-escapes.ts";

/** Looks for one text in everything that a stream brings, without keeping it. */
export interface OutputSearch {
  readonly take: (chunk: Buffer) => void;
  /** Whether the text was there; call it when the stream has ended. */
  readonly isFound: () => boolean;
}

/** A link or a title that goes on for longer than this is taken for text. */
const ESCAPE_LENGTH_MAX = 4_096;

/** Colours and other escapes in the stream do not matter, nor does the kind of its line ends. */
export function createOutputSearch(wanted: string): OutputSearch {
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
    take(chunk) {
      if (isFound) return;
      const text = open + decoder.write(chunk);
      open = OPEN.exec(text.slice(-ESCAPE_LENGTH_MAX))?.[0] ?? "";
      look(text.slice(0, text.length - open.length));
    },
    isFound() {
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
