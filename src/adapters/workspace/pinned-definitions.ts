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
    for (const rest of restsOf(command, cwd ?? "")) {
      if (rest.is === "file") {
        for (const path of filesAt(root, rest.path)) files.add(path);
        continue;
      }
      const sha256 = digestOf(rest, read);
      if (sha256 !== null) pins.push({ gate: name, rest, sha256 });
    }
  }
  return { files: [...files], pins };
}

/** The gates that rest on something else now. What cannot be read any more has changed. */
export function changedDefinitions(root: string, pins: readonly Pin[]): readonly ChangedDefinition[] {
  const read = createReader(root);
  return pins
    .filter(({ rest, sha256 }) => digestOf(rest, read) !== sha256)
    .map(({ gate, rest }) => ({ gate, where: whereOf(rest) }));
}

const FILE_BYTES_MAX = 1024 * 1024;

type Reader = (path: string) => string | null;

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
  const text = read(rest.path);
  const definition = text === null ? null : definitionIn(rest, text);
  return definition === null ? null : createHash("sha256").update(definition).digest("hex");
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
