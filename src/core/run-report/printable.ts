import { stripEscapes } from "../report/strip-escapes.ts";

/** Text of agents as a reader may see it: nothing that steers a terminal or turns the direction of writing. */
export function printable(text: string): string {
  return stripEscapes(text).replace(DIRECTIONS, "").toWellFormed();
}

const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
