import { existsSync, readlinkSync } from "node:fs";
import { join, posix } from "node:path";
import { isTestCode, isTestFolder, takesEffectByItself } from "../../../core/verdict/check-file-kinds.ts";
import {
  findSetBacks,
  mayBeCheckFile,
  type ChangedFile,
  type GateLine,
  type SetBack,
} from "../../../core/verdict/check-files.ts";
import type { VerifySettings } from "../../../core/settings.ts";
import { blobName, bytesOf, textOf, findTracked, type Git } from "../git.ts";
import { entriesIn, statsAt } from "../../process/look-at.ts";
import { fileMode, LINK_MODE, listFiles, SUBMODULE_MODE, type TreeEntry } from "../tree-entries.ts";
import type { Checkout } from "./checkout.ts";
import { contentAt } from "./put-back.ts";

export interface SetBackRequest {
  /** The commit at which the task began; null: an empty tree. */
  readonly base: string | null;
  /** Paths that the task changed, as git has them. */
  readonly changed: readonly string[];
  readonly gates: readonly GateLine[];
  /** When the task began, by the clock of the file system. */
  readonly since: number;
  /** `always`: also tests that only gained lines. */
  readonly oldChecks?: VerifySettings["oldChecks"];
}

export interface FoundSetBacks {
  readonly setBacks: readonly SetBack[];
  /** Programs in node_modules/.bin that somebody has put there instead of a link since the task began. */
  readonly replacedTools: readonly string[];
}

/** Which files have to be set back for the old checks. Asks git only if the task touched what may be a check file. */
export async function readSetBacks(
  { git, root }: Pick<Checkout, "git" | "root">,
  { base, changed, gates, since, oldChecks = "auto" }: SetBackRequest,
): Promise<FoundSetBacks> {
  const replacedTools = findReplacedTools(root, since);
  const paths = changed.filter((path) => isPlainPath(path) && mayBeCheckFile(path, gates));
  const known = new Set(changed);
  const hidden = findSelfEffective(root, gates, since).filter((path) => !known.has(path));
  if (paths.length === 0 && hidden.length === 0) return { setBacks: [], replacedTools };
  const files = await listBase(git, base);
  const entries = new Map(paths.map((path) => [path, entryIn(files, path)]));
  const oids = [...entries.values()].flatMap((entry) => entry?.oid ?? []);
  const blobs = await readBlobs(git, oids, BYTES_MAX);
  const texts = paths.flatMap((path) => changeOf(root, path, entries.get(path), blobs));
  const found = findSetBacks(texts, gates, projectAt([...files.keys()].map(textOf)), oldChecks === "auto");
  const tracked = await findTracked(git, hidden);
  const ignored = hidden.filter((path) => !tracked.has(path));
  return { setBacks: [...found, ...ignored.map((path): SetBack => ({ path, to: "gone" }))], replacedTools };
}

/** A larger file is compared by nobody: it counts as changed. */
const BYTES_MAX = 1024 * 1024;

/** A tree that was made by hand may have names that lead elsewhere. */
export function isPlainPath(path: string): boolean {
  return path.split("/").every((part) => !/^(?:\.{0,2}|\.git)$/i.test(part));
}

/** In a repository that was made anew the commit is gone, and nothing can be set back. */
export async function listBase(git: Git, base: string | null): Promise<ReadonlyMap<string, TreeEntry>> {
  return (base === null ? null : await listFiles(git, base)) ?? new Map();
}

/** Submodules are another repository's. */
export function entryIn(files: ReadonlyMap<string, TreeEntry>, path: string): TreeEntry | undefined {
  const entry = files.get(bytesOf(path));
  return entry?.mode === SUBMODULE_MODE ? undefined : entry;
}

const ONLY_WORDS = /\.(?:md|rst|adoc|txt)$|^(?:LICENSE|COPYING)[^/]*$|^\.git\w+$|^(?:\.ralph|\.specflow)\//;

/** The root is a folder of the project if it has more than words about one. */
function projectAt(paths: readonly string[]): Parameters<typeof findSetBacks>[2] {
  const folders = new Set(paths.some((path) => !ONLY_WORDS.test(path)) ? [""] : []);
  for (const path of paths)
    for (let at = posix.dirname(path); at !== "." && !folders.has(at); at = posix.dirname(at))
      folders.add(at);
  return { hasFolder: (folder) => folders.has(folder), hasTests: paths.some(isTestCode) };
}

/** The bytes of blobs, without filters; those that are larger than `max` are left out. */
export async function readBlobs(
  git: Git,
  oids: readonly string[],
  max = Infinity,
): Promise<ReadonlyMap<string, Buffer>> {
  const blobs = new Map<string, Buffer>();
  const ask = (kind: string, names: readonly string[]): Promise<string> =>
    git.must(["cat-file", kind], { input: names.map((name) => `${name}\n`).join("") });
  let names = [...new Set(oids)];
  if (names.length > 0 && max < Infinity) {
    const sizes = (await ask("--batch-check", names)).split("\n").map((line) => line.split(" "));
    names = sizes.flatMap(([oid = "", type, size]) => (type === "blob" && Number(size) <= max ? [oid] : []));
  }
  if (names.length === 0) return blobs;
  const output = await ask("--batch", names);
  let at = 0;
  for (const oid of names) {
    const start = output.indexOf("\n", at) + 1;
    const size = Number(output.slice(at, start).trim().split(" ")[2]);
    at = start;
    if (Number.isNaN(size)) continue; // it is missing here
    const content = Buffer.from(output.slice(start, start + size), "latin1");
    // Git believes the file of an object, and an agent may have written another one.
    if (blobName(content, oid) === oid) blobs.set(oid, content);
    at += size + 1;
  }
  return blobs;
}

/** Nothing for a file that is what it was, or a submodule. */
function changeOf(
  root: string,
  path: string,
  entry: TreeEntry | undefined,
  blobs: ReadonlyMap<string, Buffer>,
): ChangedFile[] {
  const was = entry === undefined ? undefined : blobs.get(entry.oid);
  const is = contentAt(root, path);
  const after = is.is === "missing" ? null : is.is === "file" ? is.bytes.toString("utf8") : "";
  if (is.is === "file" && was?.equals(is.bytes) === true && fileMode(is.mode) === entry?.mode) return [];
  if (is.is === "link" && entry?.mode === LINK_MODE && was?.toString("utf8") === is.target) return [];
  if (entry === undefined && after === null) return [];
  return [{ path, before: entry === undefined ? null : (was?.toString("utf8") ?? ""), after }];
}

const DEPTH_MAX = 3;
/** Everybody has to make an own one where git ignores it. */
const IS_OWN = /(?:^|\/)\.env[^/]*$/;

/** Files with an effect of their own that came since the task began, where tools look for them first. */
function findSelfEffective(root: string, gates: readonly GateLine[], since: number): readonly string[] {
  const found = new Set<string>();
  const look = (folder: string, depth: number): void => {
    for (const entry of entriesIn(join(root, folder))) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) {
        const isWanted = depth > 0 ? depth < DEPTH_MAX : isTestFolder(entry.name);
        if (isWanted && entry.name !== "node_modules") look(path, depth + 1);
      } else if (!IS_OWN.test(path) && takesEffectByItself(path, gates) && isNewer(join(root, path), since))
        found.add(path);
    }
  };
  for (const folder of new Set(["", ...gates.map(({ cwd }) => posix.normalize(cwd ?? "."))]))
    look(folder === "." ? "" : folder, 0);
  return [...found].filter(isPlainPath);
}

function isNewer(path: string, since: number): boolean {
  return (statsAt(path)?.ctimeMs ?? 0) > since;
}

/** Package managers make links into their packages there, and pnpm small scripts. */
function findReplacedTools(root: string, since: number): readonly string[] {
  const folder = "node_modules/.bin";
  if (existsSync(join(root, "pnpm-lock.yaml"))) return [];
  return entriesIn(join(root, folder)).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    const isReplaced = !entry.isSymbolicLink() || leadsAway(readlinkSync(join(root, path)));
    return isReplaced && isNewer(join(root, path), since) ? [path] : [];
  });
}

function leadsAway(target: string): boolean {
  return !/^\.\.\/(?!\.\.\/)/.test(target) || target.includes("/../");
}
