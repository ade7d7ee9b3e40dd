import { expect, test } from "vitest";
import { stripEscapes } from "./strip-escapes.ts";

test.each<[string, string, string]>([
  ["plain text", "a\tb\r\nc é 漢", "a\tb\r\nc é 漢"],
  ["colours", "\x1b[1;31mred\x1b[0m", "red"],
  ["cursor moves", "\x1b[2K\x1b[1Gtext\x1b[?25h", "text"],
  ["titles", "\x1b]0;title\x07text", "text"],
  ["links", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\", "text"],
  ["device strings", "\x1bP1$q\x1b\\text", "text"],
  ["character sets", "\x1b(Btext\x1b=", "text"],
  ["eight-bit sequences", "\x9b31mtext", "text"],
  ["byte order marks", "\ufefftext", "text"],
  ["what turns the direction of writing", "a\u202eb\u2066c\u2069", "abc"],
  ["control characters", "a\0b\x07c\x7f", "abc"],
  ["a broken sequence at the end", "text\x1b[", "text"],
])("%s", (_, text, stripped) => {
  expect(stripEscapes(text)).toBe(stripped);
});
