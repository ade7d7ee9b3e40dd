import { createFenceTracker } from "./fence-tracker.ts";
import { stripEscapes } from "./strip-escapes.ts";

/** Where a line stands in a Markdown text. Only plain lines are the writer's own word. */
export type Standing = "plain" | "fenced" | "quoted";

export type OnLine = (line: string, standing: Standing) => void;

/** Takes escapes out of lines and tells where each stands. */
export function createLineReader(onLine: OnLine): (line: string) => void {
  const fences = createFenceTracker();
  const read = (line: string): void => {
    if (fences.isFenced(line)) onLine(line, "fenced");
    else onLine(line, QUOTE.test(line) ? "quoted" : "plain");
  };
  return (line) => {
    const clean = stripEscapes(line);
    // A lone return starts the line anew on a terminal, as progress bars do.
    if (clean.includes("\r")) for (const part of clean.split("\r")) read(part);
    else read(clean);
  };
}

const QUOTE = /^\s*>/;
