/** The text without byte order marks, terminal escapes and control characters other than tab, newline and return. */
export function stripEscapes(text: string): string {
  return SUSPICIOUS.test(text) ? text.replace(ESCAPES, "").replace(CONTROLS, "") : text;
}

/* oxlint-disable no-control-regex -- these characters are what it is about */
/** A text without any of them is left as it is. */
export const SUSPICIOUS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]/;

/** Cursor and colour sequences; titles and links with their text; what is left of broken ones falls to CONTROLS. */
const ESCAPES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;
const CONTROLS = new RegExp(SUSPICIOUS, "g");
/* oxlint-enable no-control-regex */
