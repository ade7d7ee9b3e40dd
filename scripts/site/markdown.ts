import { fromMarkdown } from "mdast-util-from-markdown";
import { cellsOf } from "../../src/cli/commands/help.ts";
import { isDelimiterRow } from "../help-blocks.ts";

type Root = ReturnType<typeof fromMarkdown>;
type Block = Root["children"][number];
export type Heading = Extract<Block, { type: "heading" }>;
export type Code = Extract<Block, { type: "code" }>;
type List = Extract<Block, { type: "list" }>;
export type Phrase = Heading["children"][number];

/** CommonMark has no tables: a paragraph whose second line rules off its first is read as one. */
export interface Grid {
  readonly type: "grid";
  readonly head: readonly (readonly Phrase[])[];
  readonly rows: readonly (readonly (readonly Phrase[])[])[];
}

export type MarkdownNode = Block | List["children"][number] | Phrase | Grid;

/** The blocks of a page. */
export function readMarkdown(text: string): readonly MarkdownNode[] {
  return fromMarkdown(text).children.map((block) => withTable(block, text));
}

/** What stands inside of a node. */
export function childrenOf(node: MarkdownNode): readonly MarkdownNode[] {
  if (node.type === "grid") return [...node.head, ...node.rows.flat()].flat();
  return "children" in node ? node.children : [];
}

/** The words of a node, without their marks. */
export function wordsOf(node: MarkdownNode): string {
  if (node.type === "text" || node.type === "inlineCode" || node.type === "code") return node.value;
  if (node.type === "image") return node.alt ?? "";
  const between = node.type === "grid" || node.type === "list" || node.type === "listItem" ? " " : "";
  return childrenOf(node).map(wordsOf).join(between);
}

function withTable(block: Block, text: string): MarkdownNode {
  if (block.type !== "paragraph") return block;
  const { start, end } = block.position ?? {};
  const lines = text.slice(start?.offset, end?.offset).split("\n");
  const [head = "", rule = "", ...rows] = lines;
  if (!head.includes("|") || !isDelimiterRow(rule)) return block;
  return {
    type: "grid",
    head: cellsOf(head).map(phrasesOf),
    rows: rows.map((row) => cellsOf(row).map(phrasesOf)),
  };
}

function phrasesOf(cell: string): readonly Phrase[] {
  const [block] = fromMarkdown(cell).children;
  return block?.type === "paragraph" ? block.children : [{ type: "text", value: cell }];
}
