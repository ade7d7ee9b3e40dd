const NAME_LENGTH_MAX = 200;

/** A failure without what differs from run to run: durations, addresses, places in files, where the project lies. */
export function failureName(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(RULE_AT_END, "")
    .replace(DURATION_AT_END, "")
    .replaceAll(ADDRESS, "…")
    .replaceAll(ABSOLUTE, "$1")
    .replaceAll(PLACE, "")
    .trim()
    .slice(0, NAME_LENGTH_MAX)
    .toWellFormed();
}

/** What a tool says about a failure may hold numbers that grow; a name that somebody gave does not. */
export function failureMessage(text: string): string {
  return text.replaceAll(/(?<![\w.])\d+(?:[.,]\d+)*(?!\w)/g, "…");
}

const RULE_AT_END = / ─{3,}$/;
const DURATION_AT_END =
  / (?:[([] ?\d[\d.,]{0,12} ?(?:ns|[mµμ]?s|sec|min|m) ?[)\]]|\d[\d.,]{0,12} ?(?:ns|[mµμ]?s))$/;
const ADDRESS = /\b0x[0-9a-f]+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** The last folder and the name are kept. */
const ABSOLUTE = /(?<![\w./-])(?:[A-Za-z]:|file:\/\/)?[/\\](?:[\w.@+-]+[/\\])+([\w.@+-]+[/\\][\w.@+-]+)/g;
/** `:12:3`, `(12,3)` and `:[12,3]` behind a file, and `(line 12)`. */
const PLACE = /(?<=\.\w{1,6})(?::\d+(?::\d+)?|:?[([]\d+,\d+[)\]])|\s?\(line \d+\)/g;
