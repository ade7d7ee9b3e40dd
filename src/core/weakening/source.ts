import { maskSource, type StringPlace, type Syntax } from "./mask-source.ts";

/** A text with what is needed to find one's way in it. */
export interface Source {
  readonly text: string;
  readonly code: string;
  readonly strings: ReadonlyMap<number, StringPlace>;
  /** The place of the bracket that closes the one at a place, -1 where there is none. */
  readonly closeOf: Int32Array;
}

export function openSource(text: string, syntax: Syntax): Source {
  const { code, strings } = maskSource(text, syntax);
  return { text, code, strings, closeOf: matchBrackets(code) };
}

const KINDS = "([{)]}";

function matchBrackets(code: string): Int32Array {
  const closeOf = new Int32Array(code.length).fill(-1);
  const open: { at: number; kind: number }[] = [];
  const openOfKind = [0, 0, 0];
  for (let at = 0; at < code.length; at += 1) {
    const index = KINDS.indexOf(code.charAt(at));
    if (index === -1) continue;
    const kind = index % 3;
    if (index < 3) {
      open.push({ at, kind });
      openOfKind[kind] = (openOfKind[kind] ?? 0) + 1;
      continue;
    }
    if (openOfKind[kind] === 0) continue;
    for (let top = open.pop(); top !== undefined; top = open.pop()) {
      openOfKind[top.kind] = (openOfKind[top.kind] ?? 1) - 1;
      if (top.kind !== kind) continue;
      closeOf[top.at] = at;
      break;
    }
  }
  return closeOf;
}

/** One argument of a call. */
export interface Argument {
  readonly start: number;
  readonly end: number;
  /** Behind the last `=>` that belongs to the argument itself, or -1. */
  readonly arrow: number;
  /** Its last brace that is not inside other brackets, or -1. */
  readonly brace: number;
}

const ARGUMENTS_MAX = 6;

/** The first arguments between the bracket at `open` and the one that closes it; nested brackets are jumped over. */
export function argumentsOf({ code, closeOf }: Source, open: number): readonly Argument[] {
  const close = closeOf[open] ?? -1;
  const found: Argument[] = [];
  let [start, arrow, brace] = [open + 1, -1, -1];
  const finish = (end: number): void => {
    const from = skipSpace(code, start);
    if (from < end) found.push({ start: from, end, arrow, brace });
    [start, arrow, brace] = [end + 1, -1, -1];
  };
  for (let at = open + 1; at < close && found.length < ARGUMENTS_MAX; at += 1) {
    const char = code.charAt(at);
    if (char === ",") finish(at);
    else if (char === ">" && code.charAt(at - 1) === "=") arrow = at + 1;
    else if (char === "{" || char === "(" || char === "[") {
      if (char === "{") brace = at;
      at = Math.max(at, closeOf[at] ?? -1);
    }
  }
  if (found.length < ARGUMENTS_MAX) finish(Math.max(close, start));
  return found;
}

export function skipSpace(code: string, from: number): number {
  let at = from;
  while (at < code.length && code.charAt(at) <= " ") at += 1;
  return at;
}

/** What a sticky expression finds at a place. */
export function matchAt(pattern: RegExp, code: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(code);
}
