import { isCollection, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document } from "yaml";
import { BadSyntax, type ConfigText, type Lines } from "./config-text.ts";

/** YAML 1.1, in which `yes` is true: the files we read were made for a program that reads it so. */
export function readYaml(text: string): ConfigText {
  const counter = new LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line;
  const refuse = (offset: number, what: string): never => {
    const line = lineAt(offset);
    // Only the key: the file may belong to another program and have secrets.
    const key = text.split("\n")[line - 1]?.split(":")[0]?.trim() ?? "";
    throw new BadSyntax(line, `not valid YAML: ${what}, at "${key}"`);
  };
  // That keys are unique the library finds by comparing each with each.
  const options = { version: "1.1", uniqueKeys: false, lineCounter: counter, prettyErrors: false } as const;
  const document = parseDocument(text, options);
  const problem = document.errors[0];
  if (problem !== undefined) refuse(problem.pos[0], problem.message);
  refuseComplexKeys(document, lineAt);
  const linesBelow = (node: unknown, line: number): Lines => {
    const below = new Map<string, Lines>();
    if (isSeq(node))
      for (const [index, item] of node.items.entries()) below.set(String(index), linesBelow(item, line));
    for (const { key, value } of isMap(node) ? node.items : []) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      const offset = key.range?.[0] ?? 0;
      // Several maps may be merged into one.
      if (below.has(name) && name !== "<<") refuse(offset, "Map keys must be unique");
      below.set(name, linesBelow(value, lineAt(offset)));
    }
    return { line, below };
  };
  const lines = linesBelow(document.contents, 1);
  return { notation: "yaml", value: valueOf(document, text), lines: async () => lines };
}

/** Only now the library looks at what aliases stand for: one may stand for nothing, or for far too much. */
function valueOf(document: Document, text: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    const name = /^Unresolved alias.*: (.+)$/s.exec(words)?.[1];
    const before = name === undefined ? "" : text.slice(0, Math.max(0, text.indexOf(`*${name}`)));
    throw new BadSyntax(before.split("\n").length, `not valid here: ${words}`);
  }
}

/** A key that is itself a map or a list has no use here, and nested ones take the library for ever to convert. */
function refuseComplexKeys(document: Document, lineAt: (offset: number) => number): void {
  visit(document, {
    Pair: (_, { key }) => {
      if (!isCollection(key)) return;
      throw new BadSyntax(
        lineAt(key.range?.[0] ?? 0),
        "not valid here: a key must be a single word, not a list or a map",
      );
    },
  });
}
