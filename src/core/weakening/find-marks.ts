import { type Cases, countCases } from "./count-cases.ts";
import { findExits } from "./find-exits.ts";
import { isTrivial } from "./is-trivial.ts";
import type { Language } from "./language.ts";
import type { Source } from "./source.ts";

/** A place in a test file that says something about the test around it. */
export interface Mark {
  readonly is: "assertion" | "trivial" | "skip" | "table" | "whole" | "cases" | "exit";
  readonly at: number;
  readonly count?: number;
  readonly words?: string;
  readonly isInside?: boolean;
}

/** All marks in their order. */
export function findMarks(source: Source, language: Language): readonly Mark[] {
  const find = (is: Mark["is"], pattern: RegExp): Mark[] =>
    Array.from(source.code.matchAll(pattern), ({ index }) => ({ is, at: index }));
  const cases = language.cases === undefined ? [] : countCases(source, language.cases);
  const exits = language.exit === undefined ? [] : findExits(source, language.exit);
  const others = [
    ...find("skip", language.skipCall),
    ...find("table", language.table),
    ...find("whole", language.whole),
    ...cases.map(({ at, count }: Cases): Mark => ({ is: "cases", at, count })),
    ...exits.map(({ at, isInside }): Mark => ({ is: "exit", at, isInside })),
  ];
  return [...assertionsOf(source, language), ...others].toSorted((a, b) => a.at - b.at);
}

const CHECK_LENGTH_MAX = 100;

function assertionsOf(source: Source, language: Language): readonly Mark[] {
  const mark = (at: number, end: number, words: string): Mark => {
    const close = source.closeOf[end - 1] ?? -1;
    const until = close === -1 ? at : Math.min(close, at + CHECK_LENGTH_MAX);
    const newline = source.text.indexOf("\n", until);
    const stop = Math.min(newline === -1 ? source.text.length : newline, until + CHECK_LENGTH_MAX);
    const check = source.text.slice(at, stop);
    const is = isTrivial(source, at, end, words) ? "trivial" : "assertion";
    return { is, at, words: check.replaceAll(/\s+|;$/g, "") };
  };
  const found = Array.from(source.code.matchAll(language.assertion), ({ 0: words, index }) =>
    mark(index, index + words.length, words),
  );
  const aliases = new Map(
    [...(language.findAliases?.(source) ?? [])].filter(([name]) => !`${name}(`.match(language.assertion)),
  );
  if (aliases.size === 0) return found;
  const names = [...aliases.keys()].map((name) => name.replaceAll("$", String.raw`\$`)).join("|");
  const called = new RegExp(String.raw`(?<![\w$.])(${names})((?:\.\w{1,40}){0,2})\s{0,9}\(`, "g");
  for (const { 0: head, 1: name = "", 2: member = "", index } of source.code.matchAll(called))
    found.push(mark(index, index + head.length, `${aliases.get(name) ?? name}${member}(`));
  return found;
}
