import { argumentsOf, matchAt, skipSpace, type Source } from "./source.ts";

/** Whether the assertion between `at` and `end`, which is known as `words`, can never fail: it compares constants, or a thing with itself. */
export function isTrivial(source: Source, at: number, end: number, words: string): boolean {
  const open = end - 1;
  const bracket = "([{".includes(source.code.charAt(open)) ? open : skipSpace(source.code, open + 1);
  if (/^assert$/.test(words) && source.code.charAt(open) !== "(")
    return isTuple(source, open + 1) || isTrivialCondition(restOfLine(source, open + 1));
  if (!"([{".includes(source.code.charAt(bracket) || " ")) return false;
  const given = shortArguments(source, bracket);
  if (given === null) return false;
  if (/^expect\b/.test(words) && source.code.charAt(at - 1) !== ".")
    return isTrivialChain(source, bracket, given);
  // testify passes the test itself first.
  const operands = given[0] === "t" ? given.slice(1) : given;
  const [first = "", second] = operands;
  const name = words.replaceAll(/[^A-Za-z]/g, "").toLowerCase();
  if (/false$|notok$|falsy$/.test(name)) return FALSE.test(first);
  if (/not|unequal|ne$|differ/.test(name)) return false;
  if (/equal|same|\bis$|tis$|eq$/.test(name)) return second !== undefined && isSame(first, second);
  return /(?:assert|ok|true|truthy|require)$/.test(name) && isTrivialCondition(first);
}

/** Python's `assert (x == y, "message")`: a tuple is true. */
function isTuple(source: Source, from: number): boolean {
  const open = skipSpace(source.code, from);
  if (source.code.charAt(open) !== "(") return false;
  const close = source.closeOf[open] ?? -1;
  if (close === -1 || !/^[ \t]{0,40}(?:[\n;,]|$)/.test(source.code.slice(close + 1, close + 42)))
    return false;
  return (
    argumentsOf(source, open).length > 1 &&
    !/^\(\s{0,50}[\w.]{0,60}\s{1,9}for\b/.test(source.code.slice(open, open + 120))
  );
}

const CONSTANT = /^(?:true|True|[1-9]\d*|!false|not False|"[^"]*"|'[^']*'|\[\]|\{\})$/;
const FALSE = /^(?:false|False|0|!true|not True)$/;
const SAME_SIDES = /^([^=<>!&|]{1,60}?)\s{0,9}={2,3}\s{0,9}([^=<>!&|]{1,60})$/;

function isTrivialCondition(words: string): boolean {
  if (
    CONSTANT.test(words) ||
    /(?:\|\||\bor) {0,9}(?:true|True)$|^(?:true|True) {0,9}(?:\|\||or\b)/.test(words)
  )
    return true;
  const [, left, right] = SAME_SIDES.exec(words) ?? [];
  return left !== undefined && right !== undefined && isSame(left.trim(), right.trim());
}

/** What is made anew each time may differ, and a test may be about that. */
function isSame(one: string, other: string): boolean {
  return one === other && one !== "" && !/\n|\bnew\b|\brandom|\bnow\b|\buuid|\(\)/i.test(one);
}

const MATCHER =
  /\s{0,50}\.(?:(?:to|be|is|a|an)\.){0,3}(toBe|toEqual|toStrictEqual|toBeTruthy|toBeDefined|equal|equals|eql|eq|true|ok|toBeFalsy|false)\b\s{0,9}(\(?)/y;

/** `expect(1).toBe(1)`, and `expect(value)` without a matcher, which checks nothing. */
function isTrivialChain(source: Source, open: number, given: readonly string[]): boolean {
  const { code, closeOf } = source;
  const close = closeOf[open] ?? -1;
  const behind = skipSpace(code, close + 1);
  const [actual = ""] = given;
  if (code.charAt(behind) === ";" || code.charAt(behind) === "}") return true;
  const matcher = matchAt(MATCHER, code, close + 1);
  if (matcher === null) return false;
  const [all, name = "", bracket] = matcher;
  const expected = bracket === "(" ? shortArguments(source, close + all.length) : [];
  if (expected === null) return false;
  if (/falsy|^false/i.test(name)) return FALSE.test(actual);
  return expected[0] === undefined ? CONSTANT.test(actual) : isSame(actual, expected[0]);
}

const OPERAND_LENGTH_MAX = 60;

/** The arguments as they are written, or null if one is too long to be a constant. */
function shortArguments(source: Source, open: number): readonly string[] | null {
  const given = argumentsOf(source, open);
  if (given.some(({ start, end }) => end - start > OPERAND_LENGTH_MAX)) return null;
  return given.map(({ start, end }) => source.text.slice(start, end).trim());
}

/** The condition of a statement without brackets, up to its message. */
function restOfLine({ text, code, closeOf }: Source, from: number): string {
  const max = Math.min(code.length, from + 2 * OPERAND_LENGTH_MAX);
  let at = from;
  while (at < max && code.charAt(at) !== "\n" && code.charAt(at) !== ",")
    at = Math.max(at, closeOf[at] ?? -1) + 1;
  return text.slice(from, Math.min(at, max)).trim();
}
