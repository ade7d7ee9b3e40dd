import type { Source } from "./source.ts";

const LIBRARY =
  /^(?:node:)?assert(?:\/strict)?$|^(?:chai|expect|should|power-assert|vitest|@jest\/globals|bun:test|@playwright\/test|uvu\/assert)$|@std\/assert/;
/** Of a library with other things in it. */
const ASSERTION =
  /^(?:expect|assert\w{0,40}|\w{0,20}[eE]qual\w{0,20}|ok|not[A-Z]\w{0,20}|throws|rejects|fail|is|match)$/;
const IMPORT =
  /\bimport\s{1,9}([\w$*{},\s]{1,600}?)\s{0,9}\bfrom\s{0,9}(?=")|\b(?:const|let|var)\s{1,9}([\w$]{1,60}|\{[\w$:,\s]{1,600}\})\s{0,9}=\s{0,9}(?:await\s{1,9}import|require)\(\s{0,9}(?=")/g;
const TAKEN =
  /\b(?:const|let|var)\s{1,9}(?:([\w$]{1,60})\s{0,9}=\s{0,9}((?:assert|expect|chai)(?:\.\w{1,40}){0,2})\s{0,9}(?=[;\n]|\.bind\()|\{([\w$:,\s]{1,600})\}\s{0,9}=\s{0,9}(?:assert|chai)\s{0,9}(?=[;\n]))/g;
const NAMES_MAX = 30;

/** Names in a JavaScript file that stand for assertions, and what they stand for. */
export function assertionAliases({ text, code, strings }: Source): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (name: string, original: string): void => {
    if (found.size < NAMES_MAX && /^[A-Za-z_$][\w$]*$/.test(name)) found.set(name, original);
  };
  for (const match of code.matchAll(IMPORT)) {
    const place = strings.get(match.index + match[0].length);
    const library = place === undefined ? "" : text.slice(place.from, place.to);
    if (!LIBRARY.test(library)) continue;
    const words = match[1] ?? match[2] ?? "";
    for (const [name, original] of namesIn(words)) add(name, original);
    const whole = /^(?:\*\s{1,9}as\s{1,9})?([\w$]{1,60})/.exec(words)?.[1];
    if (whole !== undefined && /assert|chai|^expect$/.test(library))
      add(whole, library === "expect" ? "expect" : "assert");
  }
  for (const [, name, original, several] of code.matchAll(TAKEN)) {
    if (name !== undefined) add(name, original ?? "assert");
    for (const [one, its] of namesIn(`{${several ?? ""}}`)) add(one, its);
  }
  return found;
}

function namesIn(words: string): readonly (readonly [name: string, original: string])[] {
  const inside = /\{([^}]*)\}?/.exec(words)?.[1] ?? "";
  return inside.split(",").flatMap((one) => {
    const [original = "", name = original] = one.trim().split(/\s{0,9}(?::|\s{1,9}as\s{1,9})\s{0,9}/);
    if (!ASSERTION.test(original)) return [];
    return [[name, /^(?:expect|assert)$/.test(original) ? original : `assert.${original}`] as const];
  });
}

const PYTHON_IMPORT = /^[ \t]{0,40}from\s{1,9}[\w.]{1,80}\s{1,9}import\s{1,9}\(?([\w,\s]{1,400})/gm;

/** Names in a Python file that stand for assertions. */
export function pythonAliases({ code }: Source): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, words = ""] of code.matchAll(PYTHON_IMPORT)) {
    for (const one of words.split(/,|\n/)) {
      const [original = "", name = original] = one.trim().split(/\s{1,9}as\s{1,9}/);
      if (/^(?:assert\w{1,60}|raises|warns)$/.test(original) && found.size < NAMES_MAX)
        found.set(name, original);
    }
  }
  return found;
}
