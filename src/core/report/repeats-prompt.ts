import { stripEscapes } from "./strip-escapes.ts";

/** Shorter parts of a line may be anybody's words. */
const PART_LENGTH_MIN = 20;

/**
 * Tells whether a line only repeats the prompt: a whole line of it, or a long part, as agents that break lines
 * print it. Good enough for prose; for signals the echo filter looks at the surroundings too.
 */
export function createRepeatTest(prompt: string): (line: string) => boolean {
  const lines = stripEscapes(prompt)
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const whole = new Set(lines);
  const text = lines.join("\n");
  return (line) => {
    const words = line.trim();
    return words !== "" && (whole.has(words) || (words.length >= PART_LENGTH_MIN && text.includes(words)));
  };
}
