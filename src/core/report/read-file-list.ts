import { readFileNames } from "./read-file-names.ts";
import { createFileTable } from "./read-file-table.ts";

/** Reads lists of files under a line such as "Files changed:", and tables of files, a line at a time. */
export interface FileList {
  /** The files that this line adds. */
  read(line: string, isFenced: boolean): readonly string[];
}

export function createFileList(): FileList {
  const table = createFileTable();
  let isOpen = false;
  return {
    read(line, isFenced) {
      if (line.trim() === "" || FENCE.test(line)) {
        table.close();
        return [];
      }
      if (!isFenced) {
        const row = table.read(line, isOpen);
        if (row !== null) return row;
        const heading = readHeading(line);
        if (heading !== null) {
          isOpen = heading.rest === "";
          return readFileNames(heading.rest, 0).paths;
        }
      }
      if (!isOpen) return [];
      const item = readItem(line.trim());
      if (item.paths.length === 0 && !item.isBullet && !/^\s/.test(line)) isOpen = false;
      return item.paths;
    },
  };
}

const FENCE = /^\s*(?:`{3}|~{3})/;
const LINE_LENGTH_MAX = 1_000;
const TITLE_LENGTH_MAX = 80;

/** "Files changed:", "## Modified files", "Files created: a.ts, b.ts". */
function readHeading(line: string): { readonly rest: string } | null {
  if (line.length > LINE_LENGTH_MAX) return null;
  const words = line.trim();
  const plain = words.replaceAll(/^#+\s*|\*\*|__/g, "");
  const colon = plain.indexOf(":");
  if (colon < 0 && !/^(?:#|\*\*|__)/.test(words)) return null;
  const title = (colon < 0 ? plain : plain.slice(0, colon)).trim();
  if (title.length > TITLE_LENGTH_MAX || !(isFilesTitle(title) || CHANGES.test(title))) return null;
  return { rest: colon < 0 ? "" : plain.slice(colon + 1).trim() };
}

function isFilesTitle(title: string): boolean {
  return /\bfiles?\b/i.test(title) && WRITTEN.test(title) && !NOT_WRITTEN.test(title);
}

const WRITTEN = /\b(?:created|modified|changed|updated|written|wrote|added|edited|touched|new|generated)\b/i;
const NOT_WRITTEN =
  /\b(?:not|no|never|without|deleted|removed|read|reviewed|to be|to|will|should|must|needs?|would|could|if)\b|n['’]t\b/i;
const CHANGES = /^(?:(?:summary of )?(?:the )?changes(?: made)?|what (?:i|was|has been) (?:been )?changed)$/i;

interface Item {
  readonly paths: readonly string[];
  readonly isBullet: boolean;
}

function readItem(line: string): Item {
  const bullet = BULLET.exec(line)?.[0] ?? "";
  const isBullet = bullet !== "";
  const rest = line.slice(bullet.length, LINE_LENGTH_MAX);
  const { paths, end } = readFileNames(rest, STATE.exec(rest)?.[0].length ?? 0);
  const after = rest.slice(end);
  if (GONE.test(rest) || GONE_AFTER.test(after)) return { paths: [], isBullet };
  // Without a bullet only a name alone, or one with a remark, is an item.
  if (!isBullet && !/^[`*_"'\]]*\s*(?:$|[:(–—|,-])/.test(after)) return { paths: [], isBullet };
  return { paths, isBullet };
}

const BULLET = /^(?:[-*+•–|]|\d{1,3}[.)])\s*(?:\[[ xX]\]\s*)?/;
const STATE =
  /^(?:(?:A|M|R|C|AM|MM|\?\?)\s+|\*{0,2}(?:new file|new|created|modified|added|updated|edited|changed)\b\*{0,2}[:\s]*)?/i;
const GONE = /^(?:D\s|\*{0,2}(?:deleted|removed|unchanged)\b)/i;
const GONE_AFTER = /^\W{0,6}(?:deleted|removed|unchanged|not changed|read only)\b/i;
