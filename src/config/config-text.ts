import type { Notation } from "./schema-node.ts";

/** What a configuration file says, and where. */
export interface ConfigText {
  readonly notation: Notation;
  readonly value: unknown;
  /** Of every key. Found only when somebody asks: parsers that know lines are slow to load. */
  readonly places: () => Promise<readonly Place[]>;
}

export interface Place {
  readonly path: readonly string[];
  readonly line: number;
}

/** The text is not what its ending says. */
export class BadSyntax extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** The line of a key, or of the nearest section around it. */
export function lineOfPath(places: readonly Place[], path: readonly PropertyKey[]): number {
  const wanted = path.map(String);
  let best = { depth: 0, line: 1 };
  for (const place of places) {
    const leadsThere = place.path.every((step, index) => step === wanted[index]);
    if (leadsThere && place.path.length > best.depth) best = { depth: place.path.length, line: place.line };
  }
  return best.line;
}
