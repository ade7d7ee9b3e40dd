import { createCommentTracker } from "./comment-tracker.ts";
import { createFenceTracker } from "./fence-tracker.ts";
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
