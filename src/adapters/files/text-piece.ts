/** Part of a file that was read, with some bytes before and after the wanted ones. */
export interface Window {
  readonly bytes: Buffer;
  /** Where the window begins in the file. */
  readonly at: number;
  /** Positions in the file. */
  readonly from: number;
  readonly to: number;
  /** Of the whole file. */
  readonly size: number;
}

/** So many bytes beside a piece tell where characters and escapes begin and end. */
export const MARGIN = 64;

/** The wanted bytes, moved so that neither a character nor a terminal escape is cut in two. */
export function cutPiece(window: Window): { readonly from: number; readonly to: number } {
  const { bytes, at, size } = window;
  const from = startOf(bytes, window.from - at) + at;
  const wanted = Math.min(window.to, at + bytes.length);
  const to = wanted >= size ? wanted : endOf(bytes, wanted - at) + at;
  return { from, to: to > from ? to : Math.max(from, wanted) };
}

function startOf(bytes: Buffer, from: number): number {
  if (from === 0) return 0;
  const aligned = afterCharacter(bytes, from);
  const open = openEscape(bytes, aligned);
  return open === null ? aligned : Math.max(aligned, open.end);
}

function endOf(bytes: Buffer, to: number): number {
  const aligned = beforeCharacter(bytes, to);
  return openEscape(bytes, aligned)?.start ?? aligned;
}

function afterCharacter(bytes: Buffer, from: number): number {
  for (let at = from; at < from + CHARACTER_BYTES; at += 1) if (!isContinuation(bytes[at])) return at;
  return from; // this is not UTF-8
}

function beforeCharacter(bytes: Buffer, to: number): number {
  for (let at = to; at > to - CHARACTER_BYTES && at > 0; at -= 1) if (!isContinuation(bytes[at])) return at;
  return to;
}

const CHARACTER_BYTES = 4;

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** The escape that began before a place and goes on after it. */
function openEscape(bytes: Buffer, place: number): { readonly start: number; readonly end: number } | null {
  const start = bytes.lastIndexOf(ESCAPE, place - 1);
  if (place === 0 || start < 0 || place - start > MARGIN) return null;
  const length = COLOUR_OR_CURSOR.exec(bytes.toString("latin1", start, start + MARGIN))?.[0].length ?? 0;
  return start + length > place ? { start, end: start + length } : null;
}

const ESCAPE = 0x1b;
// oxlint-disable-next-line no-control-regex -- escapes are what it is about
const COLOUR_OR_CURSOR = /^\x1b\[[0-?]*[ -/]*[@-~]/;
