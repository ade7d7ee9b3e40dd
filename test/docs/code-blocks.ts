import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromMarkdown } from "mdast-util-from-markdown";

export const ROOT = join(import.meta.dirname, "..", "..");

/** Everything that the documentation is made of. */
export const PAGES: readonly string[] = globSync("{*.md,docs/**/*.md}", { cwd: ROOT }).toSorted();

export interface CodeBlock {
  readonly page: string;
  /** Where its first line stands in the page. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

type Node = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>["children"][number];

/** The fenced code of all pages in these languages, in order. */
export function allBlocks(...languages: readonly string[]): readonly CodeBlock[] {
  read ??= PAGES.flatMap((page) => blocksIn(fromMarkdown(readFileSync(join(ROOT, page), "utf8")), page));
  return read.filter(({ language }) => languages.includes(language));
}

let read: readonly CodeBlock[] | undefined;

/** The project that a page is played in: `<!-- project: night -->`. */
export function projectOf(page: string): string | null {
  return /^<!-- project: ([\w-]+) -->$/m.exec(readFileSync(join(ROOT, page), "utf8"))?.[1] ?? null;
}

function blocksIn(node: Node, page: string): readonly CodeBlock[] {
  if (node.type === "code") {
    const line = (node.position?.start.line ?? 0) + 1;
    return [{ page, line, language: node.lang ?? "", text: node.value }];
  }
  return "children" in node ? node.children.flatMap((child) => blocksIn(child as Node, page)) : [];
}
