import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

function split(chunks: readonly (string | Buffer)[], max?: number): readonly string[] {
  const lines: string[] = [];
  const splitter = createLineSplitter((line) => lines.push(line), { lineBytesMax: max });
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return lines;
}

describe("lines", () => {
  test.each<[string, readonly (string | Buffer)[], string[]]>([
    ["end with a newline", ["a\nb\n"], ["a", "b"]],
    ["may lack the last newline", ["a\nb"], ["a", "b"]],
    ["may be empty", ["\n\na\n\n"], ["", "", "a", ""]],
    ["may end with a return too", ["a\r\nb\rc\r\n"], ["a", "b\rc"]],
    ["may come in pieces", ["a", "b", "\r", "\nc", "d\n"], ["ab", "cd"]],
    ["may hold NUL", ["a\0b\n"], ["a\0b"]],
    [
      "may be cut inside a character",
      [Buffer.from("é").subarray(0, 1), Buffer.from("é\n").subarray(1)],
      ["é"],
    ],
    ["may be no UTF-8", [Buffer.from([0x61, 0xff, 0xfe, 0x0a])], ["a\ufffd\ufffd"]],
    ["do not come out of nothing", ["", ""], []],
  ])("%s", (_, chunks, lines) => {
    expect(split(chunks)).toEqual(lines);
  });

  test("that are too long are cut", () => {
    const chunks = ["12345678\nab\n", "123", "45", "67", "8\n12345"];
    expect(split(chunks, 5)).toEqual(["12345", "ab", "12345", "12345"]);
  });

  test("are the same however the bytes are cut", () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 20 }).map((bytes) => bytes.map((byte) => byte % 14)));
    fc.assert(
      fc.property(chunks, (pieces) => {
        const whole = Buffer.concat(pieces);
        expect(split(pieces.map((piece) => Buffer.from(piece)))).toEqual(split([whole]));
        const expected = whole.toString().split("\n");
        if (expected.at(-1) === "") expected.pop();
        expect(split([whole])).toEqual(expected.map((line) => line.replace(/\r$/, "")));
      }),
      { seed: 20_261_115 },
    );
  });

  test("that come byte by byte cost no memory to speak of", () => {
    const lines: number[] = [];
    const splitter = createLineSplitter((line) => lines.push(line.length));
    const byte = Buffer.from("x");
    for (let count = 0; count < 1_200_000; count += 1) splitter.push(byte);
    splitter.end();
    expect(lines).toEqual([1024 * 1024]);
  });
});

test("lines that come together can be taken together, as they came", () => {
  const [lines, passages]: [string[], string[]] = [[], []];
  const onPassage = (passage: string): void => void passages.push(passage);
  const splitter = createLineSplitter((line) => lines.push(line), { onPassage });
  splitter.push(Buffer.from("first\r\nsecond\r\n\nfourth\nlast"));
  splitter.push(Buffer.from(" line\n"));
  splitter.end();
  expect(lines).toEqual(["last line"]);
  expect(passages).toEqual(["first\r\nsecond\r\n\nfourth"]);
});
