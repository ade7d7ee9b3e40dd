import type { Block, Skip } from "./block.ts";
import { endOfStatement } from "./find-guarded-parts.ts";
import { matchAt, skipSpace, type Source } from "./source.ts";

/** How a language with braces declares its tests: by marks in front of a function, or by the function's name. */
export interface Declarations {
  /** Finds where marks begin, as `@` in Java: global, and ends in front of the mark's name. */
  readonly mark: RegExp;
  /** The mark's name, and what may follow it up to its brackets; sticky. */
  readonly markName: RegExp;
  readonly isTest: RegExp;
  readonly isSkipped: RegExp;
  readonly isFailing: RegExp;
  readonly isConditional: RegExp;
  /** A function behind the marks, its name in group 1 unless that is a string; sticky, with a bounded length. */
  readonly function: RegExp;
  /** A class or module behind the marks, its name in group 1; sticky, with a bounded length. */
  readonly container: RegExp;
}

/** Tests which marks make a test: `@Test void x()`, `#[test] fn x()`. */
export function findMarkedBlocks(source: Source, language: Declarations): Block[] {
  const found: Block[] = [];
  let marks: Mark[] = [];
  for (const { index } of source.code.matchAll(language.mark)) {
    const previous = marks.at(-1);
    if (previous !== undefined && index < previous.end) continue;
    const mark = readMark(source, language, index);
    if (mark === null) continue;
    if (previous !== undefined && skipSpace(source.code, previous.end) < index) {
      add(found, declaredAfter(source, language, marks));
      marks = [];
    }
    marks.push(mark);
  }
  add(found, declaredAfter(source, language, marks));
  return found;
}

function add(found: Block[], block: Block | null): void {
  if (block !== null) found.push(block);
}

interface Mark {
  readonly start: number;
  readonly end: number;
  /** Its name and the beginning of its arguments. */
  readonly words: string;
}

const WORDS_LENGTH_MAX = 80;

function readMark({ code, closeOf }: Source, language: Declarations, start: number): Mark | null {
  const name = matchAt(language.markName, code, start);
  if (name === null) return null;
  const behind = start + name[0].length;
  // The bracket is the mark's last sign (`#[`, `[`), or follows its name (`@Test(…)`).
  const bracket = "[(".includes(code.charAt(behind) || " ") ? behind : behind - 1;
  const close = "[(".includes(code.charAt(bracket)) ? (closeOf[bracket] ?? -1) : behind - 1;
  if (close === -1) return null;
  return { start, end: close + 1, words: code.slice(start, Math.min(close + 1, start + WORDS_LENGTH_MAX)) };
}

function declaredAfter(source: Source, language: Declarations, marks: readonly Mark[]): Block | null {
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined) return null;
  const at = skipSpace(source.code, last.end);
  const has = (pattern: RegExp): boolean => marks.some(({ words }) => pattern.test(words));
  const container = matchAt(language.container, source.code, at);
  const declared = container ?? matchAt(language.function, source.code, at);
  if (declared === null || (container === null && !has(language.isTest))) return null;
  const skip: Skip | null = has(language.isSkipped)
    ? "skipped"
    : has(language.isFailing)
      ? "failing"
      : has(language.isConditional)
        ? "conditional"
        : null;
  const end = at + declared[0].length;
  const name = declared[1] ?? quotedName(source, end);
  const kind = container === null ? "test" : "suite";
  return { kind, name, start: first.start, ...extentFrom(source, end), skip, isFocused: false };
}

/** Kotlin writes sentences between backticks. */
function quotedName({ text, strings }: Source, at: number): string {
  const place = strings.get(at);
  return place === undefined ? "" : text.slice(place.from, place.to);
}

/** Tests which their name makes a test: `func TestX(t *testing.T)`. The name is in group 1 of a global expression. */
export function findNamedBlocks(source: Source, declaration: RegExp): Block[] {
  return Array.from(source.code.matchAll(declaration), (match) => ({
    kind: "test" as const,
    name: match[1] ?? "",
    start: match.index,
    ...extentFrom(source, match.index + match[0].length),
    skip: null,
    isFocused: false,
  }));
}

const SIGNATURE = /[^{};@#]{0,400}/y;

function extentFrom({ code, closeOf }: Source, from: number): Pick<Block, "end" | "body"> {
  // Parameters may have marks of their own.
  const bracket = code.charAt(from - 1) === "(" ? from - 1 : from;
  const behind = code.charAt(bracket) === "(" ? Math.max(from, (closeOf[bracket] ?? -1) + 1) : from;
  const open = behind + (matchAt(SIGNATURE, code, behind)?.[0].length ?? 0);
  const close = code.charAt(open) === "{" ? (closeOf[open] ?? -1) : -1;
  return close === -1
    ? { end: open, body: { from, to: open } }
    : { end: close + 1, body: { from: open + 1, to: close } };
}

/** Parts in braces behind a head that a global expression finds: loops, and code that never runs. */
export function findBracedParts(source: Source, kind: "loop" | "dead" | "swallowed", head: RegExp): Block[] {
  const { code, closeOf } = source;
  return Array.from(code.matchAll(head), (match) => {
    const last = match.index + match[0].length - 1;
    const isOpen = "({".includes(code.charAt(last));
    const open = isOpen ? last : last + 1 + (matchAt(SIGNATURE, code, last + 1)?.[0].length ?? 0);
    const close = closeOf[open] ?? -1;
    // `for (…) {`: the loop goes on behind its head.
    const isHead = close !== -1 && code.charAt(open) === "(" && !match[0].startsWith(".");
    const end = isHead ? endOfStatement(source, close + 1) : close + 1;
    return { kind, name: "", start: match.index, end, body: null, skip: null, isFocused: false };
  });
}
