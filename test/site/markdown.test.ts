import { expect, test } from "vitest";
import { highlight } from "../../scripts/site/highlight.ts";
import { readMarkdown } from "../../scripts/site/markdown.ts";
import { renderAll, type RenderContext } from "../../scripts/site/render.ts";
import { slugger } from "../../scripts/site/slugs.ts";

const PLAIN: RenderContext = { address: (target) => target, idOf: () => "id", sizeOf: () => null };

function html(markdown: string): string {
  return renderAll(readMarkdown(markdown), PLAIN);
}

test("a table is read with its marks, and a bar in code is part of its cell", () => {
  const made = html("| a | b |\n| --- | :-: |\n| `x \\| y` | **z** |\n");
  expect(made).toContain('<th scope="col">a</th>');
  expect(made).toContain("<td><code>x | y</code></td><td><strong>z</strong></td>");
});

test("two lines with bars are no table", () => {
  expect(html("a | b\nc | d\n")).toBe("<p>a | b\nc | d</p>\n");
});

test("what is text stays text", () => {
  expect(html("`<promise>` & <https://x.example/?a=1&b=2>\n")).toBe(
    '<p><code>&lt;promise&gt;</code> &amp; <a href="https://x.example/?a=1&amp;b=2">https://x.example/?a=1&amp;b=2</a></p>\n',
  );
  expect(highlight("echo '<b>' # \"&\"", "sh")).not.toMatch(/<b>|"&"/);
});

test("raw HTML is refused, since nobody would see that it is missing", () => {
  expect(() => html("<div>x</div>\n")).toThrow("raw HTML");
  expect(html("<!-- a remark -->\n")).toBe("");
});

test("headings of the same name have anchors of their own", () => {
  const slug = slugger();
  expect(["`[[gates]]`", "It says: done, and it is not", "A", "A"].map(slug)).toEqual([
    "gates",
    "it-says-done-and-it-is-not",
    "a",
    "a-1",
  ]);
});

test("colours change no character", () => {
  const text = "ralph run \"a b\" --check 'npm test' # why";
  const plain = highlight(text, "sh").replaceAll(/<[^>]+>/g, "");
  expect(plain.replaceAll("&quot;", '"')).toBe(text);
});
