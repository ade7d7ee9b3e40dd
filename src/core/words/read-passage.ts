/** Reads a text of which most lines are no signal, and need not be looked at one by one. */
export interface PassageReader {
  /** Nothing has begun whose end would have to be looked for. */
  isIdle(): boolean;
  readLine(line: string): void;
  /** Lines in which nothing is or begins a signal; asked only when idle. */
  readPlain(lines: string): void;
}

/** The lines are parted by newlines; after the last one there is none. */
export function readPassage(passage: string, reader: PassageReader): void {
  if (reader.isIdle() && !MARK.test(passage) && !passage.includes("---")) reader.readPlain(passage);
  else for (const line of passage.split("\n")) reader.readLine(withoutReturn(line));
}

/**
 * What tags, comments, fences, quotations and names of fields have, and what does not belong into a text at all: as all
 * other characters, which is eight times as fast as to name these.
 */
const MARK = /[^\t\n -;=?-^a-}\xa0-\u2029\u202f-\u2065\u206a-\ufefe\uff00-\uffff]/;

/** The last one that is not blank; null without any. */
export function lastLineOf(lines: string): string | null {
  const words = lines.trimEnd();
  return words === "" ? null : (lines.slice(words.lastIndexOf("\n") + 1).split("\n", 1)[0] ?? null);
}

export function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
