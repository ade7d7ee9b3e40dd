import { plainLine } from "./plain-line.ts";

export type Key =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "ctrl"; readonly text: string }
  | { readonly is: NamedKey };

export type NamedKey =
  | "up"
  | "down"
  | "left"
  | "right"
  | "page-up"
  | "page-down"
  | "home"
  | "end"
  | "enter"
  | "escape"
  | "tab"
  | "back-tab"
  | "backspace"
  | "delete";

/** What Ink tells about what was typed. */
export interface Typed {
  readonly upArrow: boolean;
  readonly downArrow: boolean;
  readonly leftArrow: boolean;
  readonly rightArrow: boolean;
  readonly pageUp: boolean;
  readonly pageDown: boolean;
  readonly home: boolean;
  readonly end: boolean;
  readonly return: boolean;
  readonly escape: boolean;
  readonly tab: boolean;
  readonly shift: boolean;
  readonly backspace: boolean;
  readonly delete: boolean;
  readonly ctrl: boolean;
  readonly meta: boolean;
}

/** Over a slow line several keys arrive at once. */
export function keysOf(input: string, typed: Typed): readonly Key[] {
  const named = namedKey(typed);
  if (named !== null) return [{ is: named }];
  if (typed.ctrl) return [{ is: "ctrl", text: input }];
  if (typed.meta) return [];
  return Array.from(characters.segment(input), ({ segment }) => keyOf(segment));
}

const characters = new Intl.Segmenter();

function namedKey(typed: Typed): NamedKey | null {
  if (typed.upArrow) return "up";
  if (typed.downArrow) return "down";
  if (typed.leftArrow) return "left";
  if (typed.rightArrow) return "right";
  if (typed.pageUp) return "page-up";
  if (typed.pageDown) return "page-down";
  if (typed.home) return "home";
  if (typed.end) return "end";
  if (typed.return) return "enter";
  if (typed.escape) return "escape";
  if (typed.tab) return typed.shift ? "back-tab" : "tab";
  if (typed.backspace) return "backspace";
  return typed.delete ? "delete" : null;
}

const ENTER = ["\r", "\n", "\r\n"];

function keyOf(character: string): Key {
  if (ENTER.includes(character)) return { is: "enter" };
  if (character === "\t") return { is: "tab" };
  if (character === "\x7f" || character === "\b") return { is: "backspace" };
  if (character === "\x1b") return { is: "escape" };
  const code = character.charCodeAt(0);
  return code < 0x20
    ? { is: "ctrl", text: String.fromCharCode(code + 0x60) }
    : { is: "text", text: character };
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

function parts(text: string): readonly string[] {
  return Array.from(characters.segment(text), ({ segment }) => segment);
}
