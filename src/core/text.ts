/** The first few of a list, for a sentence. */
export function few(items: readonly string[], most = 5): string {
  const shown = items.slice(0, most).join(", ");
  return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

/** The candidate that somebody most likely meant, or null when none is near. */
export function closest(word: string, candidates: readonly string[]): string | null {
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const name of candidates) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (best === null || distance < best.distance) best = { name, distance };
  }
  return best !== null && best.distance <= Math.max(2, Math.floor(word.length / 3)) ? best.name : null;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

const FIRST_50 = /^.{0,50}/su;

/** A label as the name of a folder: letters, digits, dots and dashes. Null when nothing is left of it. */
export function folderName(label: string): string | null {
  const plain = label.normalize("NFC").replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, "-");
  const name = withoutEdges(FIRST_50.exec(withoutEdges(plain))?.[0] ?? "");
  return name === "" ? null : name;
}

function withoutEdges(name: string): string {
  return name.replaceAll(/^[.-]+|[.-]+$/g, "");
}

/** A short text that is the same for equal values and, for all that matters here, for no others. No secret. */
export function fingerprint(value: unknown): string {
  let low = 0x811c9dc5;
  let high = 0x1b873593;
  for (const character of JSON.stringify(value) ?? "") {
    const code = character.codePointAt(0) ?? 0;
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) + (low >>> 7);
  }
  return `${(low >>> 0).toString(16)}${(high >>> 0).toString(16)}`;
}

/** Where the branch of a task is kept when its work is merged. */
export function mergedBranch(branch: string): string {
  return branch.replace(/^ralph\//, "ralph/merged/");
}

/** In the place of a branch, where none is checked out. */
export const DETACHED = "HEAD";

/** Where the unaccepted work of a task is kept. */
export function asideBranch(task: string): string {
  const name = (folderName(task) ?? "task").replaceAll(/\.{2,}/g, ".").replace(/\.lock$/, "-lock");
  return `ralph/aside/${name === task ? name : `${name}-${fingerprint(task)}`}`;
}

/** One word for a command that a person may copy, in sh, bash, zsh and fish alike. */
export function asArgument(text: string): string {
  // fish reads backslashes inside quotes, so they stand outside, as quotes do.
  return /^[\w.:/@%+,-][\w.:/@%+,=-]*$/.test(text)
    ? text
    : `'${text.replaceAll(/['\\]/g, String.raw`'\$&'`)}'`;
}

/** The same for words that a person would write in quotes. */
export function asWords(text: string): string {
  return /["$`\\!]/.test(text) ? asArgument(text) : `"${text}"`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The few looks of text on a terminal; without colour they are the text itself. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly ask: (text: string) => string;
}

const same = (text: string): string => text;

export const PLAIN: Style = { bold: same, dim: same, good: same, bad: same, ask: same };
