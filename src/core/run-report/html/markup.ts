import { printable } from "../printable.ts";

/** Text that is markup already. Only `markup` makes it, so nothing else gets into a page without being escaped. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Markup[];

/** HTML or SVG; what is filled in is text, unless it is markup itself. */
export function markup(fixed: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: fixed.map((text, index) => `${text}${filledIn(parts[index] ?? "")}`).join("") };
}

function filledIn(part: Part): string {
  if (typeof part === "string") return escaped(part);
  if (typeof part === "number") return String(part);
  return "markup" in part ? part.markup : part.map((one) => one.markup).join("");
}

export const NOTHING: Markup = markup``;

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
