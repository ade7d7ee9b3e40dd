import { dollars } from "../loop/brakes.ts";
import { PLAIN, type Style } from "../text.ts";
import type { Instant } from "../time.ts";
import type { TranscriptEntry } from "./transcript.ts";

export interface LineOptions {
  readonly style?: Style;
  /** With all that unfolds. */
  readonly isFull?: boolean;
  /** How a time is shown in the margin; without it there is none. */
  readonly clock?: ((at: Instant) => string) | null;
  /** The cost that the entry before showed. */
  readonly costBefore?: string;
}

const DIFF_LINES = 10;
const INDENT = "    ";

/** An entry as lines of a terminal; those of an open entry are how the lines of the complete one begin. */
export function entryLines(entry: TranscriptEntry, options: LineOptions = {}): readonly string[] {
  const { style = PLAIN, clock = null } = options;
  const lines =
    entry.kind === "tool" || entry.kind === "edit" ? callLines(entry, options) : wordLines(entry, options);
  const nested = entry.isNested ? lines.map((line) => `${INDENT}${line}`) : lines;
  const cost = costOf(entry);
  const isNews = cost !== "" && cost !== options.costBefore && entry.state !== "open";
  const [first = "", ...rest] = nested;
  const priced = isNews ? [`${first}  ${style.dim(cost)}`, ...rest] : nested;
  if (clock === null) return priced;
  const time = entry.at === null ? "" : clock(entry.at);
  return priced.map((line, at) =>
    `${style.dim((at === 0 ? time : "").padEnd(TIME_COLUMNS))}${line}`.trimEnd(),
  );
}

/** Whether the events of a format have times. */
export function tellsTime(format: string): boolean {
  return format !== "text" && format !== "codex" && format !== "acp";
}

/** So wide is the margin with the times. */
export const TIME_COLUMNS = 10;

/** What all has cost so far; empty for less than a cent. */
function costOf({ costUsd }: TranscriptEntry): string {
  return costUsd === null || costUsd < 0.005 ? "" : dollars(costUsd);
}

function wordLines(
  { kind, title }: TranscriptEntry,
  { style = PLAIN, isFull = false }: LineOptions,
): readonly string[] {
  const lines = title.replace(/\n$/, "").split("\n");
  const [first = "", ...rest] = lines;
  switch (kind) {
    case "text":
      return lines;
    case "error":
      return [style.bad(`✗ ${first}`), ...rest.map((line) => `  ${line}`)];
    case "thinking": {
      if (isFull) return lines.map((line, at) => style.dim(`${at === 0 ? "∴ " : "  "}${line}`));
      const [words = ""] = lines.filter((line) => line.trim() !== "");
      return [style.dim(`∴ ${words}${lines.length > 1 ? ` … ${lines.length} lines` : ""}`)];
    }
    default: {
      return [style.dim(`· ${first}`), ...rest.map((line) => style.dim(`  ${line}`))];
    }
  }
}

function callLines(
  entry: TranscriptEntry,
  { style = PLAIN, isFull = false }: LineOptions,
): readonly string[] {
  const { kind, title, brief, state, input, result, diff } = entry;
  const came = state === "bad" ? style.bad(`  ✗ ${brief}`) : brief === "" ? "" : style.dim(`  ${brief}`);
  const shownDiff = diff === "" ? [] : diff.split("\n");
  const most = isFull ? shownDiff.length : DIFF_LINES;
  const more = shownDiff.length - most;
  return [
    `${style.dim("→")} ${title}${state === "open" ? "" : came}`,
    ...(isFull ? indented(input, (line) => style.dim(line)) : []),
    ...(state === "open" ? [] : shownDiff.slice(0, most).map((line) => `${INDENT}${coloured(line, style)}`)),
    ...(state === "open" || more <= 0 ? [] : [style.dim(`${INDENT}… ${more} more lines`)]),
    ...(isFull && (kind === "tool" || state === "bad") && result !== brief
      ? indented(result, (line) => line)
      : []),
  ];
}

function indented(text: string, look: (line: string) => string): readonly string[] {
  return text === "" ? [] : text.split("\n").map((line) => look(`${INDENT}${line}`));
}

function coloured(line: string, style: Style): string {
  if (line.startsWith("+")) return style.good(line);
  if (line.startsWith("-")) return style.bad(line);
  return line.startsWith("@") ? style.dim(line) : line;
}

/** Prints entries as they come; what is already known of the oldest open one is printed before it is complete. */
export interface EntryPrinter {
  entry(entry: TranscriptEntry): void;
  head(entry: TranscriptEntry | undefined): void;
}

export function createEntryPrinter(write: (text: string) => void, options: LineOptions): EntryPrinter {
  /** Of the entry that comes next. */
  let printed = "";
  let costBefore = "";
  const rest = (text: string): string =>
    text.startsWith(printed) ? text.slice(printed.length) : `\n${text}`;
  return {
    entry(entry) {
      write(rest(`${entryLines(entry, { ...options, costBefore }).join("\n")}\n`));
      printed = "";
      costBefore = costOf(entry) || costBefore;
    },
    head(entry) {
      if (entry === undefined) return;
      const isCall = entry.kind === "tool" || entry.kind === "edit";
      // The last line of words may go on.
      const title = isCall ? entry.title : entry.title.slice(0, entry.title.lastIndexOf("\n") + 1);
      if (title === "" || (entry.kind !== "text" && !isCall)) return;
      const text =
        entryLines({ ...entry, title }, { ...options, isFull: false }).join("\n") + (isCall ? "" : "\n");
      if (!text.startsWith(printed)) return;
      write(rest(text));
      printed = text;
    },
  };
}
