import type { WorkerRow } from "../core/views/status.ts";
import type { Overview, LaneRow } from "../core/views/overview.ts";
import type { Model } from "./model.ts";
import { plainLine, wrappedWords } from "./plain-line.ts";

/** So many rows each part of the screen gets, its title counted; 0: it is not there. */
interface Layout {
  readonly header: number;
  readonly inbox: number;
  readonly lanes: number;
  readonly board: number;
  readonly dialog: number;
  readonly log: number;
}

const LEAST = { columns: 40, rows: 12 };

export function isTooSmall({ size }: Pick<Model, "size">): boolean {
  return size.columns < LEAST.columns || size.rows < LEAST.rows;
}

export const TOO_SMALL = `This window is too small: ${LEAST.columns} columns and ${LEAST.rows} rows are needed.`;

/** Columns side by side, or a list. */
export function isWide({ size, overview }: Pick<Model, "size" | "overview">): boolean {
  const each = size.columns / overview.board.columns.length;
  return size.columns >= 100 && size.rows >= 28 && each >= 20;
}

/** Less than the window has: a frame of all rows would scroll it. */
export function frameRows({ rows }: Model["size"]): number {
  return rows - 1;
}

const FOOTER_ROWS = 2;
const BOARD_LEAST = 4;

export function layoutOf(model: Model): Layout {
  const { size, overview } = model;
  const isTall = size.rows >= 30;
  const header = 2 + (headerNote(model) === null ? 0 : 1);
  const dialog = dialogRows(model);
  let free = frameRows(size) - header - FOOTER_ROWS - dialog;
  const take = (wanted: number): number => {
    const taken = Math.max(0, Math.min(wanted, free));
    free -= taken;
    return taken;
  };
  const waiting = overview.status.inbox.length;
  const inbox = take(waiting === 0 ? 0 : 1 + Math.min(waiting, isTall ? 6 : 3));
  const boardLeast = take(BOARD_LEAST);
  const lanes = take(1 + Math.min(Math.max(laneEntries(overview).length, 1), isTall ? 10 : 4));
  const more = take(Math.min(boardRows(model) - boardLeast, Math.ceil(free * 0.55)));
  return { header, inbox, lanes, board: boardLeast + more, dialog, log: free >= 2 ? free : 0 };
}

/** What the board would take if it could. */
function boardRows(model: Model): number {
  const counts = model.overview.board.columns.map(({ cards }) => cards.length);
  if (isWide(model)) return 2 + CARD_ROWS * Math.max(1, ...counts);
  const all = counts.reduce((sum, count) => sum + count, 0);
  return 1 + Math.max(1, all);
}

/** Of a card in a column. */
export const CARD_ROWS = 2;

/** What is worth a line of its own in the header. */
export function headerNote({ overview }: Pick<Model, "overview">): string | null {
  const { run, exit_signals: exits, breaker } = overview.status;
  if (run?.interrupted === true)
    return overview.workers === null
      ? "Its process is gone; ralph run goes on with it."
      : "No worker is here; ralph worker goes on with it.";
  if (run?.state === "ended" && run.reason !== null) return run.reason;
  if (exits !== undefined)
    return `exit indicators: test-only ${counted(exits.test_only_loops)} · done ${counted(exits.done_signals)} · complete ${counted(exits.completion_indicators)}`;
  if (breaker.state !== "CLOSED" && breaker.reason !== null) return `breaker: ${breaker.reason}`;
  return null;
}

function counted(iterations: readonly number[]): string {
  return iterations.length === 0
    ? "0"
    : `${iterations.length} (iteration ${iterations.slice(-5).join(", ")})`;
}

const QUESTION_ROWS = 3;

/** The text of a question, in as many rows as it may have. */
export function questionRows(text: string, columns: number): readonly string[] {
  const rows = wrappedWords(plainLine(text), columns - 4);
  if (rows.length <= QUESTION_ROWS) return rows;
  return [...rows.slice(0, QUESTION_ROWS - 1), `${rows[QUESTION_ROWS - 1]} …`];
}

function dialogRows({ mode, size }: Model): number {
  if (mode.is === "choose") return 2;
  if (mode.is !== "type") return 0;
  if (mode.dialog.asks !== "answer") return 3;
  const { text, options } = mode.dialog.item;
  return 4 + questionRows(text, size.columns).length - (options.length === 0 ? 1 : 0);
}

export type LaneEntry =
  | { readonly is: "lane"; readonly row: LaneRow; readonly ofWorker: boolean }
  | { readonly is: "worker"; readonly worker: WorkerRow };

/** The lanes; of workers, each with what is under way in its own. Those that have left are not shown. */
export function laneEntries({ lanes, workers }: Pick<Overview, "lanes" | "workers">): readonly LaneEntry[] {
  const shown = (workers ?? []).filter(({ is }) => is !== "gone");
  const known = new Set(shown.map(({ id }) => id));
  const rows = lanes.map((row) => ({ is: "lane", row, ofWorker: workers !== null }) as const);
  const others = rows.filter(({ row }) => !known.has(row.work?.worker ?? ""));
  const theirs = shown.flatMap((worker): readonly LaneEntry[] => [
    { is: "worker", worker },
    ...rows.filter(({ row }) => row.work?.worker === worker.id),
  ]);
  return [...theirs, ...others];
}
