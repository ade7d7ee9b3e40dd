import { makeDefinition } from "./definition/make-definition.ts";
import { npmDefinition } from "./definition/npm-definition.ts";
import { placeOf, readRests } from "./definition/read-rests.ts";

/** What a gate's command rests on besides itself: whole files, and named parts of files. */
export type GateRest =
  | { readonly is: "file"; readonly path: string }
  /** `path` is the package.json. */
  | { readonly is: "npm-script"; readonly path: string; readonly script: string }
  /** The target "" is the one that `make` chooses without any. */
  | { readonly is: "make-target"; readonly path: string; readonly target: string };

/**
 * Reads the words of the command only and says nothing about existence; what cannot be read is left out. `cwd` is
 * that of the gate, relative to the root ("" for the root itself).
 */
export function restsOf(command: string, cwd: string): readonly GateRest[] {
  const rests = new Map<string, GateRest>();
  for (const rest of readRests(command, placeOf("", cwd))) rests.set(JSON.stringify(rest), rest);
  return [...rests.values()];
}

/**
 * The part of the file's text that the gate rests on, or null when it is not there: a script with those before and
 * after it and those that they call, a rule with its recipe and those of what it needs.
 */
export function definitionIn(rest: GateRest, fileText: string): string | null {
  switch (rest.is) {
    case "file":
      return fileText;
    case "npm-script":
      return npmDefinition(fileText, rest.script);
    case "make-target":
      return makeDefinition(fileText, rest.target);
  }
}
