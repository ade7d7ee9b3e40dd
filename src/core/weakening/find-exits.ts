import type { Source } from "./source.ts";

/** Where a file ends the process as if all went well. */
export function findExits({ code, closeOf }: Source, pattern: RegExp): readonly number[] {
  return Array.from(code.matchAll(pattern)).flatMap((match) => {
    if (!match[0].includes("TestMain")) return [match.index];
    const open = match.index + match[0].length;
    const body = code.slice(open, Math.max(open, closeOf[open] ?? -1));
    return /\bos\.Exit\(\s{0,9}0\s{0,9}\)/.test(body) || !/\.Run\(/.test(body) ? [match.index] : [];
  });
}
