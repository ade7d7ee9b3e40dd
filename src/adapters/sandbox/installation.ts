import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, sep } from "node:path";
import { isInside } from "./place.ts";

export interface Installation {
  /** The file itself, whatever links lead to it. */
  readonly program: string;
  /** What must be there for it to run, besides the system's own folders. */
  readonly places: readonly string[];
}

/** Where a program lies that was found under this path. */
export function installationOf(found: string, home: string): Installation {
  const program = realpathSync(found);
  // The folder that it was found in has its interpreter, where that was installed the same way.
  return {
    program,
    places: [dirname(found), rootOf(program)].map((path) => (isWide(path, home) ? program : path)),
  };
}

/** What a script is run by, as its first line says; null for other programs. */
export function interpreterOf(program: string): string | null {
  const [, first = "", second] = /^#! *(\S+)(?: +(?:-S +)?(\S+))?/.exec(firstBytes(program)) ?? [];
  return (first.endsWith("/env") ? second : first) || null;
}

function firstBytes(path: string): string {
  const buffer = Buffer.alloc(256);
  const file = openSync(path, "r");
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}

/** For a package of npm everything that is installed beside it. */
function rootOf(program: string): string {
  const steps = program.split(sep);
  const index = steps.indexOf("node_modules");
  return index === -1 ? dirname(program) : steps.slice(0, index + 1).join(sep);
}

/** A folder with all that the operator has, or with anybody's. */
function isWide(path: string, home: string): boolean {
  return isInside(home, path) || ["/tmp", "/var/tmp"].includes(path);
}
