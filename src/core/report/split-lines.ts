import { stripEscapes } from "./strip-escapes.ts";

/** Where a line stands in a Markdown text. Only plain lines are the writer's own word; a comment is as a quotation. */
export type Standing = "plain" | "fenced" | "quoted";

export type OnLine = (line: string, standing: Standing) => void;

export interface LineReader {
  read(line: string): void;
  /** It is neither in a fence nor in a comment. */
  isIdle(): boolean;
  /** Hands over lines that waited for the end of a comment. */
  end(): void;
}

/** Takes escapes out of lines and tells where each stands. */
export function createLineReader(onLine: OnLine): LineReader {
  const fences = createFenceTracker();
  const emit = (line: string): void => {
    if (fences.isFenced(line)) onLine(line, "fenced");
    else onLine(line, QUOTE.test(line) ? "quoted" : "plain");
  };
  const comments = createCommentTracker((line) => onLine(line, "quoted"), emit);
  const read = (line: string): void => {
    if (fences.isOpen()) emit(line);
    else comments.read(line);
  };
  return {
    read(line) {
      const clean = stripEscapes(line);
      // A lone return starts the line anew on a terminal, as progress bars do.
      if (clean.includes("\r")) for (const part of clean.split("\r")) read(part);
      else read(clean);
    },
    isIdle: () => !fences.isOpen() && comments.isIdle(),
    end: () => comments.end(),
  };
}

const QUOTE = /^\s*>/;

/** Follows a Markdown text line by line and tells what stands inside a fenced code block. */
export interface FenceTracker {
  /** Whether this line opens, closes or lies inside a fence. An unclosed fence runs to the end. */
  isFenced(line: string): boolean;
  /** Whether the next line lies inside a fence. */
  isOpen(): boolean;
}

function createFenceTracker(): FenceTracker {
  let open: string | null = null;
  return {
    isFenced(line) {
      const fence = FENCE.exec(line);
      if (open === null) {
        if (fence === null || isInlineCode(fence)) return false;
        open = fence[1] ?? null;
        return true;
      }
      if (fence !== null && closes(fence, open)) open = null;
      return true;
    },
    isOpen: () => open !== null,
  };
}

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;

function isInlineCode([, marks, rest]: RegExpExecArray): boolean {
  return marks?.startsWith("`") === true && rest?.includes("`") === true;
}

function closes([, marks = "", rest = ""]: RegExpExecArray, open: string): boolean {
  return marks[0] === open[0] && marks.length >= open.length && rest.trim() === "";
}

/** Follows HTML comments over the lines of a text. Lines wait until it is known whether their comment ends. */
export interface CommentTracker {
  /** Takes a line that stands in no fence. */
  read(line: string): void;
  /** No line waits. */
  isIdle(): boolean;
  /** No more lines come: a comment that is still open is none. */
  end(): void;
}

/**
 * A comment that does not end soon hides nothing, or one stray `<!--` would swallow an honest promise for good.
 * Both limits bound what waits, too.
 */
const LINES_MAX = 200;
const LENGTH_MAX = 64 * 1024;

const OPEN = "<!--";
const CLOSE = "-->";

interface Waiting {
  readonly lines: string[];
  /** The first line has the writer's own words before the comment; such a comment ends with its paragraph. */
  readonly isInline: boolean;
  length: number;
}

function createCommentTracker(
  onComment: (line: string) => void,
  onText: (line: string) => void,
): CommentTracker {
  let waiting: Waiting | null = null;

  const letGo = (): void => {
    const lines = waiting?.lines ?? [];
    waiting = null;
    for (const line of lines) onText(line);
  };
  const close = ({ lines, isInline }: Waiting): void => {
    waiting = null;
    for (const [index, line] of lines.entries()) (isInline && index === 0 ? onText : onComment)(line);
  };
  const begin = (line: string): void => {
    // Most lines are done with after this.
    if (!line.includes(OPEN)) return onText(line);
    const at = placeOfOpen(line);
    if (at !== null)
      waiting = { lines: [line], isInline: line.slice(0, at).trim() !== "", length: line.length };
    else (isWhollyComment(line) ? onComment : onText)(line);
  };
  return {
    read(line) {
      if (waiting === null) return begin(line);
      if (waiting.isInline && line.trim() === "") {
        letGo();
        return onText(line);
      }
      waiting.lines.push(line);
      waiting.length += line.length;
      if (line.includes(CLOSE)) {
        close(waiting);
        // The next one may begin where this one ends.
        if (placeOfOpen(line) !== null) waiting = { lines: [], isInline: false, length: 0 };
      } else if (waiting.lines.length > LINES_MAX || waiting.length > LENGTH_MAX) letGo();
    },
    isIdle: () => waiting === null,
    end: letGo,
  };
}

/** Where a comment begins that does not end in this line; not in code, nor in a quotation. */
function placeOfOpen(line: string): number | null {
  const closed = line.lastIndexOf(CLOSE);
  const at = line.indexOf(OPEN, closed < 0 ? 0 : closed + CLOSE.length);
  if (at < 0 || /^\s*>/.test(line)) return null;
  const isCode = line.slice(0, at).split("`").length % 2 === 0;
  return isCode ? null : at;
}

function isWhollyComment(line: string): boolean {
  const words = line.trim();
  // `<!-->` and `<!--->` are whole.
  return words.startsWith(OPEN) && words.indexOf(CLOSE, 2) + CLOSE.length === words.length;
}
