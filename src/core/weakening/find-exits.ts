import type { Source } from "./source.ts";

/** Where a file ends the process as if all went well. */
export function findExits({ code, closeOf }: Source, pattern: RegExp): readonly number[] {
  return Array.from(code.matchAll(pattern)).flatMap((match) => {
    if (!match[0].includes("TestMain")) return [match.index];
    const open = match.index + match[0].length;
    const end = Math.min(Math.max(open, closeOf[open] ?? -1), open + BODY_LENGTH_MAX);
    const words = code.slice(open, end).match(/\w+/g) ?? [];
    const isAlwaysGood = /\bos\.Exit\(\s{0,9}0\s{0,9}\)/.test(code.slice(open, end));
    return isAlwaysGood || !words.includes(match[1] ?? "") ? [match.index] : [];
  });
}

const BODY_LENGTH_MAX = 5_000;
