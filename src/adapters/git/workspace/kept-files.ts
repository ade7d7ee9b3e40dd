import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, posix } from "node:path";

/** The configuration as it was when an iteration began. It may be uncommitted, so git cannot tell. */
export interface KeptFiles {
  readonly files: ReadonlyMap<string, Content>;
  /** Iterations whose put-back was recorded since; any other record that is there is not ours. */
  readonly recorded: Set<number>;
}

export type Content =
  | { readonly is: "missing" }
  | { readonly is: "file"; readonly bytes: Buffer; readonly mode: number }
  | { readonly is: "link"; readonly target: string }
  /** A folder, or what cannot or need not be read. */
  | { readonly is: "other" };

export function keepFiles(root: string, ralphPrefix: string | null): KeptFiles {
  const paths = configurationPaths(root, ralphPrefix);
  return { files: new Map(paths.map((path) => [path, contentAt(root, path)])), recorded: new Set() };
}

/** Where configuration is, was or could be, relative to the root. */
export function configurationPaths(
  root: string,
  ralphPrefix: string | null,
  kept: ReadonlyMap<string, Content> | null = null,
): readonly string[] {
  const paths = new Set([".specflow/config.yaml"]);
  if (ralphPrefix !== null) {
    for (const name of OWN_FILES) paths.add(ralphPrefix + name);
    const prompts = `${ralphPrefix}prompts/`;
    for (const name of namesIn(root, prompts)) paths.add(prompts + name);
  }
  for (const path of kept?.keys() ?? []) if (isConfiguration(path, ralphPrefix)) paths.add(path);
  return [...paths];
}

/** The same as patterns, from the root. */
export function configurationGlobs(ralphPrefix: string | null): readonly string[] {
  const own = [...OWN_FILES, "prompts/*"];
  return [
    "/.specflow/config.yaml",
    ...(ralphPrefix === null ? [] : own.map((name) => `/${ralphPrefix}${name}`)),
  ];
}

export function isConfiguration(path: string, ralphPrefix: string | null): boolean {
  if (path === ".specflow/config.yaml") return true;
  if (ralphPrefix === null || !path.startsWith(ralphPrefix)) return false;
  const name = path.slice(ralphPrefix.length);
  return OWN_FILES.includes(name) || /^prompts\/(?!\.\.?$)[^/]+$/.test(name);
}

export function contentAt(root: string, path: string): Content {
  try {
    if (isBeyondLink(root, path)) return { is: existsSync(join(root, path)) ? "other" : "missing" };
    const stats = lstatSync(join(root, path));
    if (stats.isSymbolicLink()) return { is: "link", target: readlinkSync(join(root, path)) };
    if (!stats.isFile() || stats.size > BYTES_MAX) return { is: "other" };
    return { is: "file", bytes: readFileSync(join(root, path)), mode: stats.mode & 0o777 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Anything else makes it unreadable, which is not the same as gone.
    return code === "ENOENT" || code === "ENOTDIR" ? { is: "missing" } : { is: "other" };
  }
}

export function isSameContent(a: Content, b: Content): boolean {
  if (a.is === "file" && b.is === "file") return a.mode === b.mode && a.bytes.equals(b.bytes);
  if (a.is === "link" && b.is === "link") return a.target === b.target;
  return a.is === b.is;
}

const OWN_FILES = ["ralph.toml", "ralph.json", "config.yaml", "prd.md"];
const BYTES_MAX = 1024 * 1024;
const NAMES_MAX = 200;

/** What lies beyond a link is not at this path. */
function isBeyondLink(root: string, path: string): boolean {
  for (let at = posix.dirname(path); at !== "."; at = posix.dirname(at)) {
    if (lstatSync(join(root, at)).isSymbolicLink()) return true;
  }
  return false;
}

function namesIn(root: string, folder: string): readonly string[] {
  try {
    if (isBeyondLink(root, posix.join(folder, "x"))) return [];
    return readdirSync(join(root, folder)).slice(0, NAMES_MAX);
  } catch {
    return []; // no prompts of the operator's own
  }
}
