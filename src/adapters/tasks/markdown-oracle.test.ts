import * as fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTaskListItemFromMarkdown } from "mdast-util-gfm-task-list-item";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";
import { expect, test } from "vitest";
import { scanChecklist } from "./scan-checklist.ts";

type Tree = ReturnType<typeof fromMarkdown>;

/** The lines and marks of the outermost boxes, as the reference parser of GitHub's Markdown sees them. */
function boxesOf(text: string): [line: number, done: boolean][] {
  const tree = fromMarkdown(text, {
    extensions: [gfmTaskListItem()],
    mdastExtensions: [gfmTaskListItemFromMarkdown()],
  });
  const boxes: [number, boolean][] = [];
  const visit = (node: Tree | Tree["children"][number]): void => {
    // We take boxes in quotes for text: a quote is somebody else's list.
    if (node.type === "blockquote") return;
    const isBox = node.type === "listItem" && typeof node.checked === "boolean";
    if (isBox) boxes.push([node.position?.start.line ?? 0, node.checked === true]);
    else if ("children" in node) node.children.forEach(visit);
  };
  visit(tree);
  return boxes;
}

// After indented code the parser takes "2." for text, which the specification does not.
const bullet = fc.constantFrom("- ", "* ", "+ ", "1. ", "1) ", "-   ", "-\t");
const box = fc.constantFrom("[ ] ", "[x] ", "[X] ", "[ ]  ", "[-] ", "[]", "");
const title = fc.constantFrom("a", "b c", "[2026-01-29] d", "**e-1**: f");
const indent = fc.constantFrom("", "", "", " ", "  ", "   ", "    ", "      ", "\t", "\t\t");
const block = fc.constantFrom("text", "```", "```md", "~~~", "````", "<!-- note -->", "-->", "[ ] bare");
// Inside an item we do not look for headings, and a comment there reaches to where it is closed.
const top = fc.constantFrom("# Heading", "#none", "***", "___", "> - [ ] quoted", "<!--");
const joined = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(""));
const line = fc.oneof(
  { weight: 6, arbitrary: joined(indent, bullet, box, title) },
  { weight: 3, arbitrary: joined(indent, block) },
  { weight: 1, arbitrary: top },
  { weight: 2, arbitrary: fc.constantFrom("", "  ") },
);

test("the boxes are those that the reference parser finds", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n"), (lines, ending) => {
      const text = lines.join(ending);
      const ours = scanChecklist(Buffer.from(text)).map((item) => [item.line, item.task.done]);
      expect(ours).toEqual(boxesOf(text));
    }),
    { numRuns: 3_000, seed: 20_261_115 },
  );
});
