import { realpathSync } from "node:fs";
import { isAbsolute, join, posix, relative } from "node:path";
import type { CollectRequest } from "../../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { textOf, findTracked, type Git } from "../git.ts";
import { statsAt } from "../../process/look-at.ts";
import type { Owner } from "./whose-path.ts";

interface NowInTask {
  /** What the task's iterations changed, by any account: counted, uncommitted, put back, earlier. */
  readonly changed: Iterable<string>;
  readonly head: string | null;
  readonly whose: (path: string) => Owner;
}

/**
 * Files that are cited as written and were not. When in doubt a file is real: a wrong guess makes an honest agent
 * look like a liar, a missed one only lets a lie pass that other checks will find.
 */
export async function findPhantoms(
  checkout: Checkout,
  request: Pick<CollectRequest, "cited" | "written" | "taskBase" | "ignore" | "leaveAlone">,
  { changed: all, head, whose }: NowInTask,
): Promise<readonly string[]> {
  const { cited: named, written, taskBase } = request;
  if (named.length === 0) return [];
  const changed = new Set(all);
  const byTools = written.map((path) => pathIn(checkout.root, path));
  // The task source, and what was dirty before the run, never count: nobody can say.
  const known = spellings([...changed, ...request.ignore, ...request.leaveAlone, ...byTools]);
  const isFolder = (path: string): boolean => kindOf(join(checkout.root, path)) === "folder";
  const doubtful: Doubtful[] = [];
  for (const cited of named) {
    const path = pathIn(checkout.root, cited);
    // A folder that changed as a whole is another repository inside this one.
    const isInside = parentsOf(path).some((folder) => findAlike(folder, known).some(isFolder));
    if (findAlike(path, known).length > 0 || isInside || isOurs(checkout, path, whose)) continue;
    const place = placeOf(checkout.root, path, changed);
    if (place.is === "outside" || place.is === "folder") continue;
    doubtful.push({ cited, path, place: place.is === "file" ? place.path : null });
  }
  if (doubtful.length === 0) return [];
  const touched = await touchedPaths(checkout.git, taskBase, head);
  const unknown = doubtful.filter(({ path }) => findAlike(path, touched).length === 0);
  const tracked = await findTracked(
    checkout.git,
    unknown.flatMap(({ place }) => place ?? []),
  );
  // Git ignores a file that is there and neither tracked nor, as all that it does not ignore, in its status.
  const isPhantom = ({ place }: Doubtful): boolean => place === null || tracked.has(place);
  return unknown
    .filter(isPhantom)
    .map(({ cited }) => cited)
    .slice(0, PHANTOMS_MAX);
}

const PHANTOMS_MAX = 50;
/** Folders that an agent may mean when it names a file in one of them. */
const FOLDERS_MAX = 200;

interface Doubtful {
  readonly cited: string;
  readonly path: string;
  /** Where it lies, relative to the root; null when it does not exist. */
  readonly place: string | null;
}

/** Relative to the root where it is inside, links to the root followed. */
function pathIn(root: string, cited: string): string {
  if (!isAbsolute(cited)) return spelled(cited);
  const below = (path: string): string | null => {
    const way = relative(root, path).replaceAll("\\", "/");
    return way === ".." || way.startsWith("../") ? null : spelled(way);
  };
  const direct = below(cited);
  if (direct !== null) return direct;
  // The file itself may be gone, or be a link: its folder tells.
  for (let at = posix.dirname(cited); at !== "/"; at = posix.dirname(at)) {
    try {
      return below(join(realpathSync(at), relative(at, cited))) ?? spelled(cited);
    } catch {
      continue; // not there either
    }
  }
  return spelled(cited);
}

function isOurs({ root, ralphPrefix }: Checkout, path: string, whose: (path: string) => Owner): boolean {
  if (whose(path) !== "agent") return true;
  if (ralphPrefix === null) return false;
  // As the container or a sub-folder sees it, and as those write it who work in our folder.
  return path.includes(`/${ralphPrefix}`) || existing(root, ralphPrefix + path) !== null;
}

type Place =
  | { readonly is: "file"; readonly path: string }
  | { readonly is: "folder" }
  | { readonly is: "outside" }
  | { readonly is: "nowhere" };

/** Where the file lies that is meant, if it exists. */
function placeOf(root: string, path: string, changed: ReadonlySet<string>): Place {
  if (path.startsWith("../") || isAbsolute(path)) {
    const isThere = kindOf(isAbsolute(path) ? path : join(root, path)) !== null;
    if (isThere) return { is: "outside" };
  }
  const found = endsOf(path)
    .map((end) => existing(root, end))
    .find((one) => one !== null);
  const inFolder = (): string | null => {
    for (const folder of foldersOf(changed)) {
      const one = existing(root, `${folder}/${path}`);
      if (one !== null) return one;
    }
    return null;
  };
  const place = found ?? (isAbsolute(path) ? null : inFolder());
  if (place === null) return { is: "nowhere" };
  return kindOf(join(root, place)) === "folder" ? { is: "folder" } : { is: "file", path: place };
}

/** `/workspace/src/a.ts` is `src/a.ts` where the container calls the root `/workspace`. */
function endsOf(path: string): readonly string[] {
  if (!isAbsolute(path)) return [path];
  const parts = path.split("/").filter((part) => part !== "");
  // A name alone says too little about where it is.
  return parts.map((_, at) => parts.slice(at).join("/")).slice(0, -1);
}

function foldersOf(changed: ReadonlySet<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of changed) {
    for (const folder of parentsOf(path)) folders.add(folder);
    if (folders.size >= FOLDERS_MAX) break;
  }
  return folders;
}

function parentsOf(path: string): readonly string[] {
  const parents: string[] = [];
  for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) parents.push(at);
  return parents;
}

/** The path as the disk spells it, or null. */
function existing(root: string, path: string): string | null {
  return [path, path.normalize("NFD")].find((one) => kindOf(join(root, one)) !== null) ?? null;
}

function kindOf(path: string): "file" | "folder" | null {
  const stats = statsAt(path);
  if (stats === null) return null;
  return stats.isDirectory() ? "folder" : "file";
}

/** Everything that the task's commits touched, if only its white space or mode, or for a while. */
async function touchedPaths(
  git: Git,
  base: string | null,
  head: string | null,
): Promise<ReadonlySet<string>> {
  const paths: string[] = [];
  if (head === null || base === head) return new Set();
  const range = base === null ? head : `${base}..${head}`;
  // It fails when the base is gone; then everything counts as changed anyway.
  await git.run(["log", "--format=", "--name-only", "--no-renames", "-z", range, "--"], {
    onRecord: (record) => paths.push(textOf(record)),
  });
  return spellings(paths);
}

/** Those of the paths that may name the same file: one of the two ends with the other. */
function findAlike(path: string, known: ReadonlySet<string>): readonly string[] {
  if (known.has(path)) return [path];
  return [...known].filter((one) => one.endsWith(`/${path}`) || path.endsWith(`/${one}`));
}

function spellings(paths: Iterable<string>): ReadonlySet<string> {
  return new Set([...paths].map(spelled));
}

/** One spelling for all: no `./`, no `..` inside, no slash at the end, letters composed. */
function spelled(path: string): string {
  const normal = posix.normalize(path.normalize("NFC"));
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}
