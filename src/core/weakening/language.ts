import type { Block } from "./block.ts";
import type { Syntax } from "./mask-source.ts";
import type { Source } from "./source.ts";

/** What tests look like in a language. All expressions are global and look at code without comments and strings. */
export interface Language {
  readonly syntax: Syntax;
  readonly findBlocks: (source: Source) => readonly Block[];
  readonly assertion: RegExp;
  /** Leaves a running test. */
  readonly skipCall: RegExp;
  /** One test for many cases. */
  readonly table: RegExp;
  /** Where the cases of a test stand; ends in front of their bracket or name, unless it is the mark of a single case. */
  readonly cases?: RegExp;
  /** Compares a whole structure, and so may stand for several assertions. */
  readonly whole: RegExp;
  /** Assertions outside of tests are those of the program. */
  readonly isMixedWithProgram?: true;
  /** Ends the process as if all went well. */
  readonly exit?: RegExp;
  /** Stand-ins for what checks, by their names. */
  readonly findStubs?: (source: Source) => readonly string[];
  /** Names that stand for assertions in this file, and what they stand for. */
  readonly findAliases?: (source: Source) => ReadonlyMap<string, string>;
  /** A later definition replaces an earlier one of the same name. */
  readonly isReplacedByName?: true;
}

export const quoted = (quote: string, spansLines = false): Syntax["strings"][number] => ({
  open: quote,
  close: quote,
  escapes: true,
  spansLines,
});
export const raw = (open: string, close: string): Syntax["strings"][number] => ({
  open,
  close,
  escapes: false,
  spansLines: true,
});
export const C_COMMENTS = {
  lineComments: ["//"],
  blockComments: [{ open: "/*", close: "*/" }],
} as const;
export const NEVER = /(?!)/g;
