import type { AST } from "toml-eslint-parser";

/** The line of a key in a TOML text, or of the nearest table around it. */
export async function lineOfPath(text: string, path: readonly PropertyKey[]): Promise<number> {
  // Loaded only when something is wrong: a parser that knows lines is slow to start.
  const { parseTOML } = await import("toml-eslint-parser");
  const wanted = path.map(String);
  let best = { depth: -1, line: 1 };
  for (const place of places(parseTOML(text).body[0])) {
    const matches = place.path.every((step, index) => step === wanted[index]);
    if (matches && place.path.length > best.depth) best = { depth: place.path.length, line: place.line };
  }
  return best.line;
}

interface Place {
  readonly path: readonly string[];
  readonly line: number;
}

function* places(top: AST.TOMLTopLevelTable): Generator<Place> {
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") {
      yield* keyValue(node, []);
      continue;
    }
    const path = node.resolvedKey.map(String);
    yield { path, line: node.loc.start.line };
    for (const entry of node.body) yield* keyValue(entry, path);
  }
}

function* keyValue(node: AST.TOMLKeyValue, prefix: readonly string[]): Generator<Place> {
  const path = [...prefix, ...node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value))];
  yield { path, line: node.loc.start.line };
  if (node.value.type === "TOMLInlineTable") {
    for (const entry of node.value.body) yield* keyValue(entry, path);
  }
}
