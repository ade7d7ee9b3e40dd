import { fileNameIn } from "./file-name.ts";

export interface FileNames {
  readonly paths: readonly string[];
  /** Behind the last name. */
  readonly end: number;
}

const NAMES_MAX = 50;
const QUOTED_LENGTH_MAX = 300;

/** The names that follow from a place on: "the new file `a.ts` (parser), b.ts and c.ts". */
export function readFileNames(text: string, from: number): FileNames {
  const paths: string[] = [];
  let end = from;
  let at = skip(FILLER, text, from);
  while (paths.length < NAMES_MAX) {
    const word = wordAt(text, at);
    const path = word === null || isAdjective(text, word.end) ? null : fileNameIn(word.text);
    if (word === null || path === null) break;
    paths.push(path);
    end = word.end;
    const separatorFrom = skip(REMARK, text, end);
    const separatorEnd = skip(SEPARATOR, text, separatorFrom);
    if (separatorEnd === separatorFrom && !word.text.endsWith(",")) break;
    at = skip(FILLER, text, separatorEnd);
  }
  return { paths, end };
}

/** What may stand before a name without changing its meaning. */
const FILLER =
  /(?:[\s:*_]|->|→|(?:the|a|an|new|files?|at|both|also|these|two|three|four|following|existing|module|script|tests?|config|component)(?=[\s:]))*/iy;
const REMARK = /(?:[*_]{1,2})?(?:\s?\([^()]{0,120}\))?(?:[*_]{1,2})?/y;
const SEPARATOR = /\s?(?:,\s?(?:and\s|&\s?)?|\band\s|&\s?|\+\s)/y;

function skip(what: RegExp, text: string, from: number): number {
  what.lastIndex = from;
  return from + (what.exec(text)?.[0].length ?? 0);
}

interface Word {
  readonly text: string;
  readonly end: number;
}

/** One name at a place: in quotes it may have spaces, and a link is named by its text. */
function wordAt(text: string, at: number): Word | null {
  const first = text[at] ?? "";
  const close = CLOSINGS[first];
  if (close === undefined) {
    BARE.lastIndex = at;
    const bare = BARE.exec(text)?.[0];
    return bare === undefined ? null : { text: bare, end: at + withoutStop(bare).length };
  }
  const end = text.slice(at + 1, at + 1 + QUOTED_LENGTH_MAX).indexOf(close);
  if (end < 0) return null;
  const name = text.slice(at + 1, at + 1 + end);
  const after = at + 2 + end;
  if (first !== "[") return { text: name, end: after };
  const target = /^\([^()\s]{0,300}\)/.exec(text.slice(after, after + QUOTED_LENGTH_MAX))?.[0] ?? "";
  return { text: name.replaceAll("`", ""), end: after + target.length };
}

const CLOSINGS: Readonly<Record<string, string>> = { "`": "`", '"': '"', "'": "'", "“": "”", "[": "]" };
const BARE = /[^\s,;`"'<>|]{1,350}/y;

/** "`app.py`-style handling" is about no file. */
function isAdjective(text: string, end: number): boolean {
  return /^[-‐‑]\p{L}/u.test(text.slice(end, end + 3));
}

/** A full stop ends the list, so it is not part of the name. */
function withoutStop(word: string): string {
  return word.replace(/[.:!?*]+$/, "");
}
