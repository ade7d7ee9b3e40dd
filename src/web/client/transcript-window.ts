import type { TextPage } from "../api.ts";

/** The loaded part of a text of any size: without a gap, in bytes. */
export interface TranscriptWindow {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  readonly pages: readonly TextPage[];
}

/** More than this is not kept: the side that is out of sight goes. */
const PAGES_MAX = 40;

/** A page may begin so much earlier than asked for, where a letter begins. */
const LETTER_BYTES = 3;

export const EMPTY_WINDOW: TranscriptWindow = { from: 0, to: 0, bytes: 0, pages: [] };

export function withPage(
  window: TranscriptWindow,
  page: TextPage,
  side: "before" | "after",
): TranscriptWindow {
  const pages = side === "before" ? [page, ...window.pages] : [...window.pages, page];
  const kept = side === "before" ? pages.slice(0, PAGES_MAX) : pages.slice(-PAGES_MAX);
  return {
    from: kept[0]?.from ?? 0,
    to: kept.at(-1)?.to ?? 0,
    bytes: Math.max(page.bytes, kept.at(-1)?.to ?? 0),
    pages: kept,
  };
}

/** Colours and moves of a terminal. */
// oxlint-disable-next-line no-control-regex -- they are meant
const UNSHOWN = /\u001b\[[0-9;?]*[A-Za-z]|\r/g;

/** A line as the screen has room for it. */
export interface TextRow {
  readonly text: string;
  /** It goes on with the line before. */
  readonly isRest: boolean;
}

/** The lines of the window, none longer than `columns`, and the row in which the page `anchor` begins. */
export function rowsOf(
  { pages }: TranscriptWindow,
  columns: number,
  anchor: number | null,
): { readonly rows: readonly TextRow[]; readonly anchorRow: number | null } {
  const before = anchor === null ? -1 : pages.findIndex(({ from }) => from >= anchor - LETTER_BYTES);
  const head = pages
    .slice(0, Math.max(0, before))
    .map(({ text }) => text)
    .join("");
  const whole = pages.map(({ text }) => text).join("");
  const rows: TextRow[] = [];
  let anchorRow: number | null = null;
  let at = 0;
  for (const line of whole.replace(/\n$/, "").split("\n")) {
    if (before >= 0 && at <= head.length) anchorRow = rows.length;
    addRows(rows, line.replaceAll(UNSHOWN, ""), columns);
    at += line.length + 1;
  }
  return { rows, anchorRow };
}

function addRows(rows: TextRow[], line: string, columns: number): void {
  rows.push({ text: line.slice(0, columns), isRest: false });
  for (let at = columns; at < line.length; at += columns) {
    rows.push({ text: line.slice(at, at + columns), isRest: true });
  }
}
