import type { Key as Typed } from "ink";
import { plainLine } from "./plain-line.ts";

export type Key =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "ctrl"; readonly text: string }
  | { readonly is: NamedKey };

export type NamedKey = (typeof NAMED)[number][1] | "back-tab";

const NAMED = [
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["leftArrow", "left"],
  ["rightArrow", "right"],
  ["pageUp", "page-up"],
  ["pageDown", "page-down"],
  ["home", "home"],
  ["end", "end"],
  ["return", "enter"],
  ["escape", "escape"],
  ["tab", "tab"],
  ["backspace", "backspace"],
  ["delete", "delete"],
] as const satisfies readonly (readonly [keyof Typed, string])[];

/** What Ink tells about what was typed. Over a slow line several keys arrive at once. */
export function keysOf(input: string, typed: Partial<Typed>): readonly Key[] {
  if (typed.tab === true && typed.shift === true) return [{ is: "back-tab" }];
  const named = NAMED.find(([flag]) => typed[flag]);
  if (named !== undefined) return [{ is: named[1] }];
  if (typed.ctrl === true) return [{ is: "ctrl", text: input }];
  return typed.meta === true ? [] : charactersIn(input).map(keyOf);
}

const CONTROLS: Readonly<Record<string, NamedKey>> = {
  "\r": "enter",
  "\n": "enter",
  "\r\n": "enter",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b": "escape",
};

function keyOf(character: string): Key {
  const named = CONTROLS[character];
  if (named !== undefined) return { is: named };
  const code = character.charCodeAt(0);
  return code < 0x20
    ? { is: "ctrl", text: String.fromCharCode(code + 0x60) }
    : { is: "text", text: character };
}

/** For tables of keys: the letter itself, the name, or "ctrl-c". No letter is as long as a name. */
export function nameOf(key: Key): string {
  if (key.is === "text") return key.text;
  return key.is === "ctrl" ? `ctrl-${key.text}` : key.is;
}

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

/** Keys as in a shell. */
export function edited(field: TextField, key: Key): TextField {
  if (key.is === "text") return withText(field, key.text);
  const { before, after } = field;
  const left = charactersIn(before);
  const right = charactersIn(after);
  switch (nameOf(key)) {
    case "backspace":
      return { before: left.slice(0, -1).join(""), after };
    case "delete":
      return { before, after: right.slice(1).join("") };
    case "left":
      return { before: left.slice(0, -1).join(""), after: `${left.at(-1) ?? ""}${after}` };
    case "right":
      return { before: `${before}${right[0] ?? ""}`, after: right.slice(1).join("") };
    case "home":
    case "ctrl-a":
      return { before: "", after: textOf(field) };
    case "end":
    case "ctrl-e":
      return { before: textOf(field), after: "" };
    case "ctrl-u":
      return { before: "", after };
    case "ctrl-k":
      return { before, after: "" };
    case "ctrl-w":
      return { before: before.replace(/\S+\s*$/, ""), after };
    default:
      return field;
  }
}

const characters = new Intl.Segmenter();

function charactersIn(text: string): readonly string[] {
  return Array.from(characters.segment(text), ({ segment }) => segment);
}
