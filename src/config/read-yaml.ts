import { isCollection, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document } from "yaml";
import { BadSyntax, type ConfigText, type Place } from "./config-text.ts";

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
  refuseKeysTwice(document, (offset) => refuse(offset, "Map keys must be unique"));
  return {
    notation: "yaml",
    value: valueOf(document, text),
    places: async () => [...places(document.contents, [], lineAt)],
  };
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

function refuseKeysTwice(document: Document, refuse: (offset: number) => never): void {
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        // Several maps may be merged into one.
        if (!isScalar(key) || key.value === "<<") continue;
        if (keys.has(key.value)) refuse(key.range?.[0] ?? 0);
        keys.add(key.value);
      }
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
