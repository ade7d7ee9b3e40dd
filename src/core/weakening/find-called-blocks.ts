import type { Block, Skip } from "./block.ts";
import { type Argument, argumentsOf, matchAt, skipSpace, type Source } from "./source.ts";

/** Tests and suites that are calls with a title and a function, as in JavaScript. */
export function findCalledBlocks(source: Source): Block[] {
  const found: Block[] = [];
  for (const match of source.code.matchAll(HEAD)) {
    const word = match[2] ?? "";
    const call = readChain(source, match.index + match[0].length);
    if (call === null || !call.modifiers.every((one) => KNOWN.has(one))) continue;
    const given = argumentsOf(source, call.open);
    if (!isDefinition(source, given, call.modifiers)) continue;
    found.push({
      kind: SUITES.has(word) || call.modifiers.includes("describe") ? "suite" : "test",
      name: titleOf(source, given[0]),
      start: match.index,
      end: (source.closeOf[call.open] ?? -1) + 1,
      body: bodyOf(source, given),
      skip: match[1] === "x" ? "skipped" : (skipOf(call.modifiers) ?? skipInOptions(source, given)),
      isFocused: match[1] === "f" || call.modifiers.includes("only") || hasOption(source, given, FOCUSING),
    });
  }
  return found;
}

/** Calls with a title that a global expression finds up to their bracket: `t.Run("x", …)`. */
export function findTitledCalls(source: Source, head: RegExp): Block[] {
  return Array.from(source.code.matchAll(head), (match) => {
    const open = match.index + match[0].length - 1;
    const given = argumentsOf(source, open);
    const end = (source.closeOf[open] ?? -1) + 1;
    const name = titleOf(source, given[0]);
    return {
      kind: "test",
      name,
      start: match.index,
      end,
      body: bodyOf(source, given),
      skip: null,
      isFocused: false,
    };
  });
}

const HEAD =
  /(?<![\w$.])(?:(?:t|tap|Deno|QUnit)\.)?([xf]?)(it|test|describe|context|suite|specify)\b(?=\s{0,50}[.(<"])/g;
const SUITES = new Set(["describe", "context", "suite"]);
const SKIPPING = new Set(["skip", "todo", "fixme", "ignore"]);
const FAILING = new Set(["fails", "failing", "fail"]);
const CONDITIONAL = new Set(["skipIf", "todoIf", "runIf", "if"]);
const CURRIED = new Set(["each", "for", "skipIf", "runIf", "todoIf", "if"]);
const PLAIN = "only concurrent sequential serial parallel describe cb shuffle effect live scoped prop";
const KNOWN = new Set([...SKIPPING, ...FAILING, ...CURRIED, ...PLAIN.split(" ")]);

interface Call {
  readonly modifiers: readonly string[];
  readonly open: number;
}

const CHAIN_MAX = 8;
const LINK = /\s{0,50}\.\s{0,50}(\w{1,40})/y;

/** From behind `test` to the bracket with the title: `.skip`, `.each<T>(…)`, and so on. */
function readChain({ code, closeOf, strings }: Source, from: number): Call | null {
  const modifiers: string[] = [];
  let at = from;
  for (let step = 0; step < CHAIN_MAX; step += 1) {
    const link = matchAt(LINK, code, at);
    if (link !== null) {
      modifiers.push(link[1] ?? "");
      at += link[0].length;
      continue;
    }
    at = skipTypes(code, skipSpace(code, at));
    const isCurried = CURRIED.has(modifiers.at(-1) ?? "");
    if (code.charAt(at) === "(") {
      const close = closeOf[at] ?? -1;
      if (close === -1) return null;
      const next = skipSpace(code, close + 1);
      if (!isCurried || !".(".includes(code.charAt(next) || " ")) return { modifiers, open: at };
      at = next;
      if (code.charAt(at) === "(") return closeOf[at] === -1 ? null : { modifiers, open: at };
    } else {
      const table = strings.get(at);
      if (!isCurried || table === undefined) return null;
      at = table.end;
    }
  }
  return null;
}

const TYPES_LENGTH_MAX = 400;

function skipTypes(code: string, from: number): number {
  if (code.charAt(from) !== "<") return from;
  let depth = 0;
  for (let at = from; at < Math.min(code.length, from + TYPES_LENGTH_MAX); at += 1) {
    const char = code.charAt(at);
    if (char === "<") depth += 1;
    else if (char === ">" && code.charAt(at - 1) !== "=") depth -= 1;
    if (depth === 0) return skipSpace(code, at + 1);
  }
  return from;
}

/** Playwright's `test.skip(condition, reason)` inside a test is none, nor is `context.test(value)`. */
function isDefinition(
  { strings }: Source,
  given: readonly Argument[],
  modifiers: readonly string[],
): boolean {
  const [first] = given;
  if (first === undefined) return false;
  if (given.some(({ arrow, brace }) => arrow !== -1 || brace !== -1)) return true;
  return strings.has(first.start) && (given.length > 1 || skipOf(modifiers) !== null);
}

const TITLE_LENGTH_MAX = 120;

function titleOf({ text, strings }: Source, first: Argument | undefined): string {
  if (first === undefined) return "";
  const string = strings.get(first.start);
  const [from, to] = string === undefined ? [first.start, first.end] : [string.from, string.to];
  return text.slice(from, Math.min(to, from + TITLE_LENGTH_MAX)).trim();
}

function bodyOf({ code, closeOf }: Source, given: readonly Argument[]): Block["body"] {
  const definition = given.findLast(
    ({ start, arrow }) => arrow !== -1 || matchAt(FUNCTION, code, start) !== null,
  );
  if (definition === undefined) {
    const last = given.length > 1 ? given.at(-1) : undefined;
    return last === undefined ? null : { from: last.start, to: last.end };
  }
  const { start, end, arrow, brace } = definition;
  const open = arrow === -1 ? brace : skipSpace(code, arrow);
  if (code.charAt(open) !== "{") return { from: arrow === -1 ? start : open, to: end };
  const close = closeOf[open] ?? -1;
  return { from: open + 1, to: close === -1 ? end : close };
}

const FUNCTION = /(?:async\s{1,9})?func(?:tion)?\b/y;

function skipOf(modifiers: readonly string[]): Skip | null {
  if (modifiers.some((one) => SKIPPING.has(one))) return "skipped";
  if (modifiers.some((one) => FAILING.has(one))) return "failing";
  return modifiers.some((one) => CONDITIONAL.has(one)) ? "conditional" : null;
}

const NOT_SET = String.raw`\s{0,9}:\s{0,9}(?!\s|false|undefined|null)`;
const OMITTING = new RegExp(String.raw`\b(?:skip|todo|ignore)${NOT_SET}|[{,]\s{0,9}(?:skip|todo)\s{0,9}[,}]`);
const EXPECTING_FAILURE = new RegExp(String.raw`\b(?:fails|expectFailure)${NOT_SET}`);
const FOCUSING = new RegExp(String.raw`\bonly${NOT_SET}`);

function skipInOptions(source: Source, given: readonly Argument[]): Skip | null {
  if (hasOption(source, given, OMITTING)) return "skipped";
  return hasOption(source, given, EXPECTING_FAILURE) ? "failing" : null;
}

const OPTIONS_LENGTH_MAX = 300;

function hasOption({ code }: Source, given: readonly Argument[], option: RegExp): boolean {
  return given.some(
    ({ start, end, arrow }) =>
      arrow === -1 &&
      code.charAt(start) === "{" &&
      option.test(code.slice(start, Math.min(end, start + OPTIONS_LENGTH_MAX))),
  );
}
