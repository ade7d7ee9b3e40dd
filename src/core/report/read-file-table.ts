import { readFileNames } from "./read-file-names.ts";

/** Reads Markdown tables that tell what was done to which file, a line at a time. */
export interface FileTable {
  /** The files that this row names as written; null when the line is no row of such a table. */
  read(line: string, isUnderTitle: boolean): readonly string[] | null;
  close(): void;
}

const LINE_LENGTH_MAX = 1_000;
const CELLS_MAX = 20;

/** The columns of a table by their place. */
interface Columns {
  readonly file: number;
  /** The title says that all of these files were written. */
  readonly areWritten: boolean;
  /** Whatever these say is a change. */
  readonly changes: readonly number[];
  /** These say in their first word what was done. */
  readonly actions: readonly number[];
}

/** `isUnderTitle`: the table stands under a line such as "Files changed:". */
export function createFileTable(): FileTable {
  let previous: readonly string[] = [];
  let columns: Columns | null = null;
  return {
    read(line, isUnderTitle) {
      const cells = line.includes("|") && line.length <= LINE_LENGTH_MAX ? cellsOf(line) : [];
      const header = previous;
      previous = cells;
      if (cells.length === 0) columns = null;
      else if (columns !== null) return filesWritten(cells, columns, isUnderTitle);
      else if (cells.length === header.length && cells.every((cell) => /^:?-+:?$/.test(cell)))
        columns = columnsOf(header);
      return columns === null ? null : [];
    },
    close() {
      previous = [];
      columns = null;
    },
  };
}

function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .replaceAll(/^\||\|$/g, "")
    .split("|", CELLS_MAX)
    .map((cell) => cell.trim());
}

function columnsOf(header: readonly string[]): Columns | null {
  const titles = header.map(wordsOf);
  const file = titles.findIndex((title) => FILE.test(title) && !OTHER_FILE.test(title));
  if (file < 0) return null;
  const placesOf = (what: RegExp): readonly number[] =>
    titles.flatMap((title, index) => (index !== file && what.test(title) ? [index] : []));
  return {
    file,
    areWritten: WRITTEN.test(titles[file] ?? ""),
    changes: placesOf(CHANGE),
    actions: placesOf(ACTION),
  };
}

const FILE = /\b(?:files?|paths?|file ?names?|file ?paths?)\b/i;
/** Files that are gone, were only looked at, or are still to be written. */
const OTHER_FILE =
  /\b(?:not|no|old|from|source|original|deleted|removed|read|reviewed|unchanged|to|will|should|needed|affected|proposed|planned)\b/i;
const WRITTEN = /\b(?:created|modified|added|updated|changed|edited|written|touched|new)\b/i;
const CHANGE = /^(?:the )?(?:changes?|modifications?)(?: made)?$|^what (?:was |has been |i )?changed$/i;
const ACTION = /^(?:(?:change )?type|kind|what|status|state|action|operation)$/i;

function filesWritten(cells: readonly string[], columns: Columns, isUnderTitle: boolean): readonly string[] {
  const words = cells.map((cell, index) => (index === columns.file ? "" : wordsOf(cell)));
  if (words.some((word) => OTHERWISE.test(word))) return [];
  const isWritten =
    isUnderTitle ||
    columns.areWritten ||
    columns.changes.some((index) => (words[index] ?? "") !== "") ||
    columns.actions.some((index) => STATE.test(words[index] ?? "")) ||
    words.some((word) => STATE.exec(word)?.[0] === word);
  return isWritten ? readFileNames(cells[columns.file] ?? "", 0).paths : [];
}

const STATE = /^(?:newly )?(?:created|modified|added|updated|changed|edited|written|new)(?: file)?\b/i;
/** A removed line may well be a change of the file, but who knows. */
const OTHERWISE =
  /^(?:deleted?|removed?|unchanged|read|reviewed|renamed?|moved?|not|no|none|nothing|n\/a|skipped|todo|planned|proposed|pending|optional|to be|will|should|must|would|could|needs?)\b/i;

/** A cell without decoration and the picture before its words. */
function wordsOf(cell: string): string {
  return cell
    .replaceAll(/[*_`]/g, "")
    .replace(/^[^\p{L}\p{N}%#]+/u, "")
    .trim();
}
