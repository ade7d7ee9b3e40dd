import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { safePath } from "../system/safe-path.ts";

/** What a file of a list is for: the tasks, a checklist that agents tick, the requirements, notes, a letter. */
export type FileRole = "tasks" | "checklist" | "requirements" | "notes" | "letter";

/** One file that belongs to a list of tasks, as it was read. */
export interface ListFile {
  readonly role: FileRole;
  /** As a person knows it, relative to the root. */
  readonly path: string;
  /** Where it really lies, symbolic links followed. */
  readonly real: string;
  readonly bytes: Buffer;
}

export interface ListPlaces {
  readonly root: string;
  readonly ralphDir: string;
  /** Of the task source, relative to the root. */
  readonly source: readonly { readonly path: string; readonly isAgents: boolean }[];
  /** Names of letters in `.ralph/`. */
  readonly letters: readonly string[];
}

const BESIDE: readonly (readonly [name: string, role: FileRole])[] = [
  ["prd.md", "requirements"],
  ["PRD.md", "requirements"],
  ["progress.txt", "notes"],
];

/** Reads what belongs to a list: its source, and requirements and notes beside it or in `.ralph/`. */
export function readListFiles({ root, ralphDir, source, letters }: ListPlaces): readonly ListFile[] {
  const folders = new Set([ralphDir, ...source.map(({ path }) => dirname(join(root, path)))]);
  const candidates: (readonly [path: string, role: FileRole])[] = [
    ...source.map(({ path, isAgents }) => [join(root, path), isAgents ? "checklist" : "tasks"] as const),
    ...[...folders].flatMap((folder) => BESIDE.map(([name, role]) => [join(folder, name), role] as const)),
    ...letters.map((name) => [join(ralphDir, name), "letter"] as const),
  ];
  const found: ListFile[] = [];
  const seen = new Set<string>();
  for (const [path, role] of candidates) {
    const file = readFile({ root, ralphDir }, path, role);
    if (file === null || seen.has(file.identity)) continue;
    seen.add(file.identity);
    found.push({ role, path: relative(root, path), real: file.real, bytes: file.bytes });
  }
  return found;
}

function readFile(
  { root, ralphDir }: { readonly root: string; readonly ralphDir: string },
  path: string,
  role: FileRole,
): { readonly real: string; readonly bytes: Buffer; readonly identity: string } | null {
  // A letter is ours, and a link in its place is not: its own reader does not follow it either.
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined || (role === "letter" && !there.isFile())) return null;
  const base = isInside(root, path) ? root : ralphDir;
  const real = safePath(base, relative(base, path));
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isFile()) {
    throw new RalphError("usage", `${relative(root, path)} is not a file`, { hint: "move it away" });
  }
  try {
    // Two names may be one file where case does not count.
    return { real, bytes: readFileSync(real), identity: `${stats.dev}:${stats.ino}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RalphError("usage", `${relative(root, path)} cannot be read (${code})`, { cause: error });
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, resolve(path));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
