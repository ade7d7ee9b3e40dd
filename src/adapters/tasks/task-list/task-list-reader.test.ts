import { expect, test } from "vitest";
import { readList } from "./task-list-reader.ts";

const TEXT = "tasks:\n- title: a\n";

test("the same list is read once, however often it is asked for", () => {
  const first = readList(Buffer.from(TEXT), "f");
  expect(readList(Buffer.from(TEXT), "f")).toBe(first);
});

test("another text is another list, and another path is said in what is wrong with it", () => {
  expect(readList(Buffer.from(TEXT), "f").entries).toHaveLength(1);
  expect(readList(Buffer.from(`${TEXT}- title: b\n`), "f").entries).toHaveLength(2);
  expect(readList(Buffer.from(TEXT), "f").bad(0, "no").message).toBe("f:1:1: no");
  expect(readList(Buffer.from(TEXT), "g").bad(0, "no").message).toBe("g:1:1: no");
});
