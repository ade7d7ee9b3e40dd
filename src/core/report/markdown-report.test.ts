import { expect, test } from "vitest";
import { code, plain, table } from "./markdown-report.ts";

test.each([
  ["<script>alert(1)</script>", String.raw`\<script\>alert(1)\</script\>`],
  ["[a](javascript:x) ![b](c)", String.raw`\[a\](javascript:x) !\[b\](c)`],
  ["**bold** `code` ~~gone~~", String.raw`\*\*bold\*\* \`code\` \~\~gone\~\~`],
  ["_emphasis_ of snake_case_names", String.raw`\_emphasis\_ of snake_case_names`],
  ["&lt;b&gt; & more", String.raw`\&lt;b\&gt; & more`],
  ["# no heading\n- no list", String.raw`\# no heading - no list`],
  ["- no list", String.raw`\- no list`],
  ["1. no list", String.raw`1\. no list`],
  ["a | b", String.raw`a \| b`],
  [String.raw`a \| b`, String.raw`a \\\| b`],
  ["\u001b[31mred\u001b[0m\u202e", "red"],
])("plain text stays plain: %j", (text, shown) => {
  expect(plain(text)).toBe(shown);
});

test.each([
  ["ralph run", "`ralph run`"],
  ["a `b` c", "``a `b` c``"],
  ["`a", "`` `a ``"],
  ["one\ntwo", "`one two`"],
])("code keeps what it has: %j", (text, shown) => {
  expect(code(text)).toBe(shown);
});

test("a bar does not end a cell", () => {
  expect(table(["A", "#B"], [[code("a | b"), plain("c | d")]])).toEqual([
    "| A | B |",
    "| --- | ---: |",
    String.raw`| ${"`"}a \| b${"`"} | c \| d |`,
    "",
  ]);
});
