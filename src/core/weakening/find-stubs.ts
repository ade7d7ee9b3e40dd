import { skipSpace, type Source } from "./source.ts";

const NAMES = "(test|it|describe|suite|expect|assert)";
const BINDING = new RegExp(
  String.raw`(?<![\w$.])(?:(?:const|let|var)\s{1,9}${NAMES}\s{0,9}(?::[^=\n]{0,80})?=\s{0,9}(?=\(|\{|async\b|function\b|\w{1,40}\s{0,9}=>)|function\s{1,9}${NAMES}\s{0,9}(?=\())`,
  "g",
);

/** The names of a runner or of assertions that the file itself binds to something which does nothing. */
export function findStubs(source: Source): readonly string[] {
  return Array.from(source.code.matchAll(BINDING)).flatMap((match) => {
    const from = match.index + match[0].length;
    const to = endOfValue(source, from);
    return doesNothing(source, from, to) ? [match[1] ?? match[2] ?? ""] : [];
  });
}

const VALUE_LENGTH_MAX = 600;

/** Behind the first braces, or at the end of the statement. */
function endOfValue({ code, closeOf }: Source, from: number): number {
  let at = from;
  const max = Math.min(code.length, from + VALUE_LENGTH_MAX);
  while (
    at < max &&
    code.charAt(at) !== ";" &&
    !(code.charAt(at) === "\n" && /[\w)}\]"]\s*$/.test(code.slice(from, at)))
  ) {
    const close = closeOf[at] ?? -1;
    if (code.charAt(at) === "{" && close !== -1) return close + 1;
    at = Math.max(at, close) + 1;
  }
  return Math.min(at, max);
}

/** A function with a body, an object of functions, or an arrow to a constant or to such an object. */
const ENDING =
  /^(?!\{)[^={]{0,120}(?:=>)?\s{0,9}\{|^\{[^]*(?:=>|\)\s{0,9}\{)|=>\s{0,9}(?:\(\s{0,9}\{|(?:undefined|null|true|void 0)\b)/;

/** Neither calls anything nor throws; what is too long to look at does something. */
function doesNothing({ code, closeOf }: Source, from: number, to: number): boolean {
  if (to - from > VALUE_LENGTH_MAX) return false;
  const value = code.slice(from, to);
  if (/\b(?:throw|await|new|class)\b|\.\.\./.test(value) || !ENDING.test(value)) return false;
  for (const { 0: head, index } of value.matchAll(/(?<!\bfunction\s{0,9})[\w$\])]\s{0,9}\(/g)) {
    const close = closeOf[from + index + head.length - 1] ?? -1;
    const behind = close === -1 ? to : skipSpace(code, close + 1);
    const isDefinition =
      code.charAt(behind) === "{" || code.startsWith("=>", behind) || code.charAt(behind) === ":";
    if (!isDefinition) return false;
  }
  return true;
}
