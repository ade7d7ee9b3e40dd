import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { posix, relative } from "node:path";
import type { ChangedDefinition } from "../../core/report/evidence.ts";
import { definitionIn, restsOf, type GateRest } from "../../core/report/gate-definition.ts";
import type { Pin } from "../../core/settings.ts";
import { safePath } from "../system/safe-path.ts";

export interface PinnedDefinitions {
  /** Files that gates run, relative to the root. */
  readonly files: readonly string[];
  readonly pins: readonly Pin[];
}

interface Gate {
  readonly name: string;
  readonly command: string;
  readonly cwd: string | null;
}

/** What the gates rest on now. */
export function pinDefinitions(root: string, gates: readonly Gate[]): PinnedDefinitions {
  const files = new Set<string>();
  const pins: Pin[] = [];
  const read = createReader(root);
  for (const { name, command, cwd } of gates) {
    for (const { rest, definition } of restsBehind(restsOf(command, cwd ?? ""), read)) {
      if (rest.is === "file") for (const path of filesAt(root, rest.path)) files.add(path);
      else pins.push({ gate: name, rest, sha256: sha256Of(definition) });
    }
  }
  return { files: [...files], pins };
}

interface Defined {
  readonly rest: GateRest;
  readonly definition: string;
}

/** What commands rest on, and what that rests on: a script may call another, or a file. */
function restsBehind(rests: readonly GateRest[], read: Reader): readonly Defined[] {
  const found = new Map<string, Defined>();
  let next = rests;
  for (let depth = 0; depth < DEPTH_MAX && next.length > 0; depth += 1) {
    const fresh = next.filter((rest) => !found.has(JSON.stringify(rest)));
    next = fresh.flatMap((rest) => {
      const definition = definitionOf(rest, read);
      if (definition === null) return [];
      found.set(JSON.stringify(rest), { rest, definition });
      return rest.is === "file" ? [] : restsOf(definition, posix.dirname(rest.path));
    });
  }
  return [...found.values()];
}

/**
 * The gates that rest on something else now than when the run started, or than when the task began, as far as
 * `before` knows. What cannot be read any more has changed.
 */
export function changedDefinitions(
  root: string,
  pins: readonly Pin[],
  before: Reader = () => null,
): readonly ChangedDefinition[] {
  const read = createReader(root);
  return pins
    .filter(({ rest, sha256 }) => {
      const now = digestOf(rest, read);
      const atBase = digestOf(rest, before);
      return now !== sha256 || (atBase !== null && now !== atBase);
    })
    .map(({ gate, rest }) => ({ gate, where: whereOf(rest) }));
}

/** The files that hold pinned definitions, under every name they could have. */
export function pinnedFiles(pins: readonly Pin[]): readonly string[] {
  return [...new Set(pins.flatMap(({ rest }) => namesOf(rest)))];
}

const FILE_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 4;

export type Reader = (path: string) => string | null;

/** Reads each file once. */
function createReader(root: string): Reader {
  const texts = new Map<string, string | null>();
  return (path) => {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const text = textAt(root, path);
    texts.set(path, text);
    return text;
  };
}

function textAt(root: string, path: string): string | null {
  try {
    const place = safePath(root, path);
    const stats = statSync(place);
    return stats.isFile() && stats.size <= FILE_BYTES_MAX ? readFileSync(place, "utf8") : null;
  } catch {
    return null; // gone, unreadable or outside: no definition of ours
  }
}

/** The file, and the one that it is a link to. */
function filesAt(root: string, path: string): readonly string[] {
  try {
    const place = safePath(root, path);
    const real = relative(realpathSync(root), place).replaceAll("\\", "/");
    return statSync(place).isFile() ? [posix.normalize(path), real] : [];
  } catch {
    return []; // not there, or outside: nothing of the repository's
  }
}

function digestOf(rest: GateRest, read: Reader): string | null {
  const definition = definitionOf(rest, read);
  return definition === null ? null : sha256Of(definition);
}

function definitionOf(rest: GateRest, read: Reader): string | null {
  for (const name of namesOf(rest)) {
    const text = read(name);
    if (text !== null) return definitionIn(rest, text);
  }
  return null;
}

/** Of several makefiles in one folder, make takes the first of these. */
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

function namesOf({ is, path }: GateRest): readonly string[] {
  const folder = posix.dirname(path);
  const isDefault = is === "make-target" && MAKEFILES.includes(posix.basename(path));
  return isDefault ? MAKEFILES.map((name) => posix.join(folder, name)) : [path];
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function whereOf(rest: GateRest): string {
  switch (rest.is) {
    case "file":
      return rest.path;
    case "npm-script":
      return `${rest.path}: scripts.${rest.script}`;
    case "make-target":
      return rest.target === "" ? `${rest.path}: first target` : `${rest.path}: target ${rest.target}`;
  }
}
