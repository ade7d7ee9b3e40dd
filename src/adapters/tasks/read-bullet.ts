import { columnAfter, type Line } from "./scan-lines.ts";

/** The beginning of a list item. */
export interface Bullet {
  /** Where its content begins; what is indented as far belongs to it. */
  readonly column: number;
  readonly box: Box | null;
  /** Without bullet and box. */
  readonly text: string;
}

export interface Box {
  /** Of the character between the brackets, in the line's content. */
  readonly at: number;
  readonly isTicked: boolean;
}

/** In the middle of a paragraph a number other than one is only a number. */
export function readBullet({ content, indent }: Line, mayHaveAnyNumber: boolean): Bullet | null {
  const marker = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/.exec(content)?.[0];
  if (marker === undefined) return null;
  if (!mayHaveAnyNumber && /^\d/.test(marker) && Number.parseInt(marker, 10) !== 1) return null;
  const space = /^[ \t]*/.exec(content.slice(marker.length))?.[0] ?? "";
  const textAt = marker.length + space.length;
  const text = content.slice(textAt);
  const from = indent + marker.length;
  const to = columnAfter(space, from);
  // So far to the right it is code that the item begins with.
  if (text === "" || to - from > 4) return { column: from + 1, box: null, text };
  const [boxText, mark] = /^\[([ \txX])\][ \t]+(?=\S)/.exec(text) ?? [];
  if (boxText === undefined || mark === undefined) return { column: to, box: null, text };
  const box = { at: textAt + 1, isTicked: mark === "x" || mark === "X" };
  return { column: to, box, text: text.slice(boxText.length) };
}
