import type { Key } from "./key.ts";
import { plainLine } from "./plain-line.ts";

/** A line that is being typed; the cursor is between both parts. */
export interface TextField {
  readonly before: string;
  readonly after: string;
}

export const EMPTY_FIELD: TextField = { before: "", after: "" };

export function textOf({ before, after }: TextField): string {
  return `${before}${after}`;
}

/** What was pasted is one line too. */
export function withText({ before, after }: TextField, text: string): TextField {
  return { before: `${before}${plainLine(text)}`, after };
}

export function edited(field: TextField, key: Key): TextField {
  const { before, after } = field;
  const left = parts(before);
  const right = parts(after);
  switch (key.is) {
    case "text":
      return withText(field, key.text);
    case "backspace":
      return { before: left.slice(0, -1).join(""), after };
    case "delete":
      return { before, after: right.slice(1).join("") };
    case "left":
      return { before: left.slice(0, -1).join(""), after: `${left.at(-1) ?? ""}${after}` };
    case "right":
      return { before: `${before}${right[0] ?? ""}`, after: right.slice(1).join("") };
    case "home":
      return { before: "", after: textOf(field) };
    case "end":
      return { before: textOf(field), after: "" };
    case "ctrl":
      return shortened(field, key.text);
    default:
      return field;
  }
}

/** As in a shell. */
function shortened(field: TextField, letter: string): TextField {
  const { before, after } = field;
  if (letter === "a") return { before: "", after: textOf(field) };
  if (letter === "e") return { before: textOf(field), after: "" };
  if (letter === "u") return { before: "", after };
  if (letter === "k") return { before, after: "" };
  if (letter === "w") return { before: before.replace(/\S+\s*$/, ""), after };
  return field;
}

const characters = new Intl.Segmenter();

function parts(text: string): readonly string[] {
  return Array.from(characters.segment(text), ({ segment }) => segment);
}
