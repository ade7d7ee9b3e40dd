import type { Source } from "./source.ts";

/** A place that ends the process as if all went well; "inside": unless it belongs to a test, it belongs to a program. */
export interface Exit {
  readonly at: number;
  readonly isInside: boolean;
}

export function findExits({ code, closeOf }: Source, pattern: RegExp): readonly Exit[] {
  return Array.from(code.matchAll(pattern)).flatMap((match) => {
    const isInside = /[ \t]/.test(code.charAt(match.index - 1)) && !match[0].includes("=>");
    const exit = { at: match.index, isInside };
    if (!match[0].includes("TestMain")) return [exit];
    const open = match.index + match[0].length;
    const end = Math.min(Math.max(open, closeOf[open] ?? -1), open + BODY_LENGTH_MAX);
    const words: readonly string[] = code.slice(open, end).match(/\w+/g) ?? [];
    const isAlwaysGood = /\bos\.Exit\(\s{0,9}0\s{0,9}\)/.test(code.slice(open, end));
    return isAlwaysGood || !words.includes(match[1] ?? "") ? [exit] : [];
  });
}

const BODY_LENGTH_MAX = 5_000;
