import { expect, test } from "vitest";
import { markup } from "./page.ts";

test.each([
  ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
  [`"><img src=x onerror='x'>`, "&quot;&gt;&lt;img src=x onerror=&#39;x&#39;&gt;"],
  ["&lt;", "&amp;lt;"],
  ["\u001b[31mred\u001b[0m", "red"],
  ["\u001b]0;title\u0007text\u0000", "text"],
  ["\u202egnp.exe", "gnp.exe"],
  ["\ud800", "\ufffd"],
])("what is filled in is text: %j", (text, shown) => {
  expect(markup`<p title="${text}">${text}</p>`.markup).toBe(`<p title="${shown}">${shown}</p>`);
});

test("markup stays markup, alone and in lists", () => {
  const items = ["a", "<b>"].map((text) => markup`<li>${text}</li>`);
  expect(markup`<ul>${items}</ul>${items[0]!}`.markup).toBe(
    "<ul><li>a</li><li>&lt;b&gt;</li></ul><li>a</li>",
  );
});
