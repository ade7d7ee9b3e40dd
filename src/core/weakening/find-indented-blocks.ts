import type { Block, Skip } from "./block.ts";
import type { Source } from "./source.ts";

/** How a language with blocks by indentation opens them; every expression looks at one line without its indentation. */
export interface Indentation {
  readonly heads: readonly {
    readonly kind: Block["kind"];
    /** Group 1 is the name, unless the expression ends in front of a string. */
    readonly pattern: RegExp;
    /** Where such a block is a test: not inside of these. */
    readonly notInside?: readonly Block["kind"][];
    readonly skip?: Skip;
  }[];
  /** Begins a line that says something about the next head. */
  readonly decorator: RegExp | null;
  readonly isSkipped: RegExp;
  readonly isFailing: RegExp;
}

interface Open {
  readonly indent: number;
  readonly block: Block;
}

interface Decorators {
  readonly start: number;
  readonly words: string;
}

const HEAD_LENGTH_MAX = 200;

/** Tests, suites, functions and loops of Python and Ruby. */
export function findIndentedBlocks(source: Source, language: Indentation): Block[] {
  const found: Block[] = [];
  const open: Open[] = [];
  let decorators: Decorators | null = null;
  let busyUntil = 0;
  for (const { start, indent, end } of linesOf(source.code)) {
    const isContinued = start < busyUntil;
    busyUntil = Math.max(busyUntil, endOfBrackets(source, start, end));
    if (isContinued || start === end) continue;
    for (let top = open.at(-1); top !== undefined && top.indent >= indent; top = open.at(-1)) {
      open.pop();
      found.push({ ...top.block, ...endAt(top.block, start) });
    }
    const line = source.code.slice(start, Math.min(end, start + HEAD_LENGTH_MAX));
    if (language.decorator?.test(line) === true) {
      decorators = addDecorator(decorators, start, line);
      continue;
    }
    const inside = open.at(-1)?.block.kind ?? null;
    const block = readHead(source, language, line, start, inside, decorators);
    if (block !== null)
      open.push({ indent, block: { ...block, body: { from: bodyFrom(source, start, end), to: end } } });
    decorators = null;
  }
  const last = source.code.length;
  return [...found, ...open.map(({ block }) => ({ ...block, ...endAt(block, last) }))];
}

function addDecorator(decorators: Decorators | null, start: number, line: string): Decorators {
  return { start: decorators?.start ?? start, words: `${decorators?.words ?? ""}${line}\n` };
}

/** Behind the colon of `def test_x(): pass`, behind the line of `it "x" do`. */
function bodyFrom({ code, closeOf }: Source, start: number, end: number): number {
  const open = code.slice(start, Math.min(end, start + HEAD_LENGTH_MAX)).indexOf("(");
  const close = open === -1 ? -1 : (closeOf[start + open] ?? -1);
  if (close === -1) return end;
  const colon = code.slice(close, close + HEAD_LENGTH_MAX).search(/[:\n]/);
  return colon === -1 ? end : close + colon + 1;
}

function endAt({ body }: Block, end: number): Pick<Block, "end" | "body"> {
  return { end, body: { from: body?.from ?? end, to: end } };
}

function* linesOf(code: string): Generator<{ start: number; indent: number; end: number }> {
  let from = 0;
  while (from < code.length) {
    const newline = code.indexOf("\n", from);
    const end = newline === -1 ? code.length : newline;
    let start = from;
    while (start < end && code.charAt(start) <= " ") start += 1;
    yield { start, indent: start - from, end };
    from = end + 1;
  }
}

/** Where the brackets and strings end that this line opens. */
function endOfBrackets({ code, closeOf, strings }: Source, start: number, end: number): number {
  let furthest = 0;
  for (let at = start; at < end; at += 1) {
    const char = code.charAt(at);
    if (char === '"') furthest = Math.max(furthest, strings.get(at)?.end ?? 0);
    else if ("([{".includes(char)) furthest = Math.max(furthest, (closeOf[at] ?? -1) + 1);
  }
  return furthest;
}

function readHead(
  { text, strings }: Source,
  language: Indentation,
  line: string,
  at: number,
  inside: Block["kind"] | null,
  decorators: Decorators | null,
): Block | null {
  for (const { kind, pattern, notInside, skip } of language.heads) {
    const match = pattern.exec(line);
    if (match === null || (inside !== null && notInside?.includes(inside) === true)) continue;
    const title = strings.get(at + match[0].length);
    const name = match[1] ?? (title === undefined ? "" : text.slice(title.from, title.to));
    const words = decorators?.words ?? "";
    const found = language.isSkipped.test(words)
      ? "skipped"
      : language.isFailing.test(words)
        ? "failing"
        : null;
    const start = decorators?.start ?? at;
    return { kind, name, start, end: at, body: null, skip: skip ?? found, isFocused: false };
  }
  return null;
}
