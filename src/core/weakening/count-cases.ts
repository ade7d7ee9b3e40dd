import { matchAt, skipSpace, type Source } from "./source.ts";

/** Where cases stand, and how many; 0 where that cannot be said. */
export interface Cases {
  readonly at: number;
  readonly count: number;
}

/** Counts the cases in the places that a language's expression finds. */
export function countCases(source: Source, pattern: RegExp): readonly Cases[] {
  const counted = new Map<number, number>();
  const countOnce = (open: number): number => {
    const count = counted.get(open) ?? entriesOf(source, open);
    counted.set(open, count);
    return count;
  };
  let tables: ReadonlyMap<string, number> | null = null;
  return Array.from(source.code.matchAll(pattern), (match) => {
    const end = match.index + match[0].length;
    const isMark = /^(?:#|InlineData|TestCase|DataRow)$/.test(match[0]);
    if (isMark) return { at: match.index, count: 1 };
    const open = match[0].includes("struct") ? behindType(source, end) : end;
    if ("[{(".includes(source.code.charAt(open) || " ")) return { at: match.index, count: countOnce(open) };
    const name = matchAt(NAME, source.code, open)?.[1];
    tables ??= namedTables(source);
    const named = name === undefined ? undefined : tables.get(name);
    return { at: match.index, count: named === undefined ? 0 : countOnce(named) };
  });
}

const NAME = /([\w$]{1,80})\s{0,9}(?:as const\s{0,9})?[),]/y;

/** Go writes the fields of a case in front of the cases. */
function behindType({ code, closeOf }: Source, open: number): number {
  return skipSpace(code, (closeOf[open] ?? -1) + 1);
}

const TABLE =
  /^(?:export\s{1,9})?(?:const\s{1,9}|let\s{1,9}|var\s{1,9})?([\w$]{1,80})\s{0,9}(?::[^=\n]{0,120})?=\s{0,9}(?=\[)/gm;

/** The lists of the file that have a name, unless several have the same. */
function namedTables({ code }: Source): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const twice = new Set<string>();
  for (const { 0: head, 1: name = "", index } of code.matchAll(TABLE)) {
    if (found.has(name)) twice.add(name);
    found.set(name, index + head.length);
  }
  for (const name of twice) found.delete(name);
  return found;
}

/** How many entries stand between these brackets; 0 if some come from elsewhere. */
function entriesOf({ code, closeOf }: Source, open: number): number {
  const close = closeOf[open] ?? -1;
  let [entries, isInEntry] = [0, false];
  for (let at = open + 1; at < close; at += 1) {
    const char = code.charAt(at);
    if (char === ",") isInEntry = false;
    else if (char === "*" || code.startsWith("...", at) || code.startsWith("for ", at)) return 0;
    else if (char > " " && !isInEntry) [entries, isInEntry] = [entries + 1, true];
    at = Math.max(at, closeOf[at] ?? -1);
  }
  // Behind the brackets a method may make other cases of them.
  return code.charAt(close + 1) === "." ? 0 : entries;
}
