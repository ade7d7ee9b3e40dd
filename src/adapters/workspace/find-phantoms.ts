import { lstatSync, realpathSync } from "node:fs";
import { isAbsolute, join, posix, relative } from "node:path";
import type { Checkout } from "./checkout.ts";
import { textOf, type Git } from "../git/git.ts";
import type { Owner } from "./whose-path.ts";

export interface Citations {
  /** As the agent wrote them. */
  readonly cited: readonly string[];
  /** By its tools, as those tell. What an agent wrote on its way it may have taken away again. */
  readonly written: readonly string[];
  /** What the task's iterations changed, by any account: counted, uncommitted, put back, earlier. */
  readonly changed: Iterable<string>;
  readonly base: string | null;
  readonly head: string | null;
  readonly whose: (path: string) => Owner;
  /** The task source, and what was dirty before the run: they never count, so nobody can say. */
  readonly ours: readonly string[];
}

/**
 * Files that are cited as written and were not. When in doubt a file is real: a wrong guess makes an honest agent
 * look like a liar, a missed one only lets a lie pass that other checks will find.
 */
export async function findPhantoms(checkout: Checkout, citations: Citations): Promise<readonly string[]> {
  const { cited: named, written } = citations;
  if (named.length === 0) return [];
  const changed = new Set(citations.changed);
  const byTools = written.map((path) => pathIn(checkout.root, path));
  const known = new PathIndex([...changed, ...citations.ours, ...byTools]);
  const isFolder = (path: string): boolean => kindOf(join(checkout.root, path)) === "folder";
  const doubtful: Doubtful[] = [];
  for (const cited of named) {
    const path = pathIn(checkout.root, cited);
    if (known.has(path) || known.hasFolderOf(path, isFolder) || isOurs(checkout, path, citations.whose))
      continue;
    const place = placeOf(checkout.root, path, changed);
    if (place.is === "outside" || place.is === "folder") continue;
    doubtful.push({ cited, path, place: place.is === "file" ? place.path : null });
  }
  if (doubtful.length === 0) return [];
  const touched = await touchedPaths(checkout.git, citations);
  const unknown = doubtful.filter(({ path }) => !touched.has(path));
  const tracked = await trackedAmong(
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
    for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) folders.add(at);
    if (folders.size >= FOLDERS_MAX) break;
  }
  return folders;
}

/** The path as the disk spells it, or null. */
function existing(root: string, path: string): string | null {
  return [path, path.normalize("NFD")].find((one) => kindOf(join(root, one)) !== null) ?? null;
}

function kindOf(path: string): "file" | "folder" | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    return stats.isDirectory() ? "folder" : "file";
  } catch {
    return null; // too long, or below a file: no such path
  }
}

/** Everything that the task's commits touched, if only its white space or mode, or for a while. */
async function touchedPaths(git: Git, { base, head }: Citations): Promise<PathIndex> {
  const paths: string[] = [];
  if (head === null || base === head) return new PathIndex(paths);
  const range = base === null ? head : `${base}..${head}`;
  // It fails when the base is gone; then everything counts as changed anyway.
  await git.run(["log", "--format=", "--name-only", "--no-renames", "-z", range, "--"], {
    onRecord: (record) => paths.push(textOf(record)),
  });
  return new PathIndex(paths);
}

async function trackedAmong(git: Git, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const tracked = new Set<string>();
  if (paths.length === 0) return tracked;
  await git.must(["ls-files", "-z", "--", ...paths.map((path) => `:(literal)${path}`)], {
    onRecord: (record) => tracked.add(textOf(record)),
  });
  return tracked;
}

/** Paths to be found by any end of them, whatever the composition of their letters. */
class PathIndex {
  readonly #byName = new Map<string, string[]>();

  constructor(paths: Iterable<string>) {
    for (const path of paths) this.#add(spelled(path));
  }

  /** Names the same file: the same path, or one that ends with the other. */
  has(path: string): boolean {
    return this.#alike(path).length > 0;
  }

  /** Whether the path lies in a folder that is one of ours (another repository inside this one). */
  hasFolderOf(path: string, isFolder: (folder: string) => boolean): boolean {
    for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) {
      if (this.#alike(at).some(isFolder)) return true;
    }
    return false;
  }

  #add(path: string): void {
    const name = posix.basename(path);
    const others = this.#byName.get(name);
    if (others === undefined) this.#byName.set(name, [path]);
    else others.push(path);
  }

  #alike(path: string): readonly string[] {
    const alike = this.#byName.get(posix.basename(path)) ?? [];
    return alike.filter((one) => one === path || one.endsWith(`/${path}`) || path.endsWith(`/${one}`));
  }
}

/** One spelling for all: no `./`, no `..` inside, no slash at the end, letters composed. */
function spelled(path: string): string {
  const normal = posix.normalize(path.normalize("NFC"));
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}
