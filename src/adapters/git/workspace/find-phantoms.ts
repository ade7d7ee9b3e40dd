import { basename, dirname, isAbsolute, join, posix, relative, resolve } from "node:path";
import type { CollectRequest } from "../../../engine/ports.ts";
import { statsAt } from "../../process/look-at.ts";
import { isOutside } from "../../process/safe-path.ts";
import { realPathOf } from "../find-repository.ts";
import { findTracked, recordsIn, textOf, type Git } from "../git.ts";
import type { Checkout, Owners } from "./checkout.ts";

interface NowInTask extends Pick<Owners, "whose"> {
  /** What the task's iterations changed, by any account: counted, uncommitted, put back, earlier. */
  readonly changed: Iterable<string>;
  readonly head: string | null;
}

const PHANTOMS_MAX = 50;
/** Folders that an agent may mean when it names a file in one of them. */
const FOLDERS_MAX = 200;

/**
 * Files that are cited as written and were not. When in doubt a file is real: a wrong guess makes an honest agent
 * look like a liar, a missed one only lets a lie pass that other checks will find.
 */
export async function findPhantoms(
  checkout: Checkout,
  request: Pick<CollectRequest, "cited" | "written" | "taskBase" | "ignore" | "leaveAlone">,
  { changed, head, whose }: NowInTask,
): Promise<readonly string[]> {
  const { root, git } = checkout;
  if (request.cited.length === 0) return [];
  const byTools = request.written.map((path) => pathIn(root, path));
  // The task source, and what was dirty before the run, never count: nobody can say.
  const known = new Set([...changed, ...request.ignore, ...request.leaveAlone, ...byTools].map(spelled));
  const folders = [...new Set([...changed].flatMap(parentsOf))].slice(0, FOLDERS_MAX);
  const isFolder = (path: string): boolean => statsAt(join(root, path))?.isDirectory() === true;
  const doubtful: Doubtful[] = [];
  for (const cited of request.cited) {
    const path = pathIn(root, cited);
    // A folder that changed as a whole is another repository inside this one.
    const isInside = parentsOf(path).some((folder) => findAlike(folder, known).some(isFolder));
    const isElsewhere = isOutside(root, resolve(root, path)) && statsAt(resolve(root, path)) !== null;
    if (findAlike(path, known).length > 0 || isInside || isElsewhere) continue;
    if (isOurs(checkout, path, whose)) continue;
    const place = findPlace(root, path, folders);
    if (place === null || !isFolder(place)) doubtful.push({ cited, path, place });
  }
  if (doubtful.length === 0) return [];
  const touched = await touchedPaths(git, request.taskBase, head);
  const unknown = doubtful.filter(({ path }) => findAlike(path, touched).length === 0);
  const tracked = await findTracked(
    git,
    unknown.flatMap(({ place }) => place ?? []),
  );
  // Git ignores a file that is there and neither tracked nor, as all that it does not ignore, in its status.
  const phantoms = unknown.filter(({ place }) => place === null || tracked.has(place));
  return phantoms.map(({ cited }) => cited).slice(0, PHANTOMS_MAX);
}

interface Doubtful {
  readonly cited: string;
  readonly path: string;
  /** Where it lies, relative to the root; null when it does not exist. */
  readonly place: string | null;
}

/** Relative to the root where it is inside, links to the root followed. */
function pathIn(root: string, cited: string): string {
  if (!isAbsolute(cited)) return spelled(cited);
  // The file itself may be gone, or be a link: its folder tells.
  const real = join(realPathOf(dirname(cited)), basename(cited));
  const inside = [cited, real].find((path) => !isOutside(root, path));
  return spelled(inside === undefined ? cited : relative(root, inside));
}

function isOurs({ root, ralphPrefix }: Checkout, path: string, whose: Owners["whose"]): boolean {
  if (whose(path) !== "agent") return true;
  if (ralphPrefix === null) return false;
  // As the container or a sub-folder sees it, and as those write it who work in our folder.
  return path.includes(`/${ralphPrefix}`) || existing(root, ralphPrefix + path) !== null;
}

/** Where the file lies that is meant, if it exists. */
function findPlace(root: string, path: string, folders: readonly string[]): string | null {
  const parts = path.split("/").filter((part) => part !== "");
  const places = isAbsolute(path)
    ? // `/workspace/src/a.ts` is `src/a.ts` where the container calls the root `/workspace`; a name says too little.
      parts.map((_, at) => parts.slice(at).join("/")).slice(0, -1)
    : [path, ...folders.map((folder) => `${folder}/${path}`)];
  for (const place of places) {
    const found = existing(root, place);
    if (found !== null) return found;
  }
  return null;
}

function parentsOf(path: string): readonly string[] {
  const parents: string[] = [];
  for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) parents.push(at);
  return parents;
}

/** The path as the disk spells it, or null. */
function existing(root: string, path: string): string | null {
  return [path, path.normalize("NFD")].find((one) => statsAt(join(root, one)) !== null) ?? null;
}

/** Everything that the task's commits touched, if only its white space or mode, or for a while. */
async function touchedPaths(
  git: Git,
  base: string | null,
  head: string | null,
): Promise<ReadonlySet<string>> {
  if (head === null || base === head) return new Set();
  const range = base === null ? head : `${base}..${head}`;
  // It fails when the base is gone; then everything counts as changed anyway.
  const { stdout } = await git.run(["log", "--format=", "--name-only", "--no-renames", "-z", range, "--"]);
  return new Set(recordsIn(stdout).map(textOf).map(spelled));
}

/** Those of the paths that may name the same file: one of the two ends with the other. */
function findAlike(path: string, known: ReadonlySet<string>): readonly string[] {
  if (known.has(path)) return [path];
  return [...known].filter((one) => one.endsWith(`/${path}`) || path.endsWith(`/${one}`));
}

/** One spelling for all: no `./`, no `..` inside, no slash at the end, letters composed. */
function spelled(path: string): string {
  const normal = posix.normalize(path.normalize("NFC"));
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}
