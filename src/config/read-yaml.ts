import { isCollection, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document } from "yaml";
import { BadSyntax, type ConfigText, type Place } from "./config-text.ts";

/** YAML 1.1, in which `yes` is true: the files we read were made for a program that reads it so. */
export function readYaml(text: string): ConfigText {
  const counter = new LineCounter();
  const document = parseDocument(text, { version: "1.1", lineCounter: counter, prettyErrors: false });
  const problem = document.errors[0];
  if (problem !== undefined) {
    const { line } = counter.linePos(problem.pos[0]);
    // Only the key: the file may belong to another program and have secrets.
    const key = text.split("\n")[line - 1]?.split(":")[0]?.trim() ?? "";
    throw new BadSyntax(line, `not valid YAML: ${problem.message}, at "${key}"`);
  }
  const lineAt = (offset: number): number => counter.linePos(offset).line;
  refuseComplexKeys(document, lineAt);
  return {
    notation: "yaml",
    value: document.toJS(),
    places: async () => [...places(document.contents, [], lineAt)],
  };
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

function* places(
  node: unknown,
  path: readonly string[],
  lineAt: (offset: number) => number,
): Generator<Place> {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const below = [...path, String(key.value)];
      yield { path: below, line: lineAt(key.range?.[0] ?? 0) };
      yield* places(value, below, lineAt);
    }
  }
  if (!isSeq(node)) return;
  for (const [index, item] of node.items.entries()) yield* places(item, [...path, String(index)], lineAt);
}
