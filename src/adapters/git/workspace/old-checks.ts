import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  constants,
  copyFileSync,
  lutimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, posix, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { GatePlace } from "../../../engine/ports.ts";
import type { SetBack } from "../../../core/verdict/check-files.ts";
import { runProgram } from "../../process/supervise.ts";
import { removeTree } from "../../process/atomic-file.ts";
import { findProgram } from "../../process/process-table.ts";
import type { Checkout } from "./checkout.ts";
import { statsAt } from "../../process/look-at.ts";
import { realPathOf } from "../find-repository.ts";
import { bytePath } from "../git.ts";
import { abandonedIn, current } from "../stale-locks.ts";
import { fileMode, LINK_MODE, PROGRAM_MODE } from "../tree-entries.ts";
import { entryIn, isPlainPath, listBase, readBlobs } from "./read-set-backs.ts";

/** The tree as it is, with the checks as they were. Its gates run one after the other. */
export interface OldTree extends GatePlace {
  dispose(): Promise<void>;
}

type Place = Pick<Checkout, "git" | "root" | "gitDir" | "commonDir">;

/** How the old files are shown: over the tree in a namespace of its own, or in a copy beside it. */
export type Layout = "root" | "user" | "mapped-root" | "copy";

/** Lays the old tree out. The work tree itself is never written to, so nothing has to be undone, whoever is killed. */
export async function layOldChecks(
  checkout: Place,
  base: string | null,
  setBacks: readonly SetBack[],
  layouts: readonly Layout[] = LAYOUTS,
): Promise<OldTree> {
  await removeAbandonedOldChecks(checkout.commonDir);
  const folder = makeFolder(temporaryFolders(checkout.commonDir));
  current.add(folder);
  const dispose = (): Promise<void> => {
    current.delete(folder);
    return removeTree(folder);
  };
  try {
    const parts = await readParts(checkout, base, setBacks);
    const overlay = await tryOverlays(checkout, folder, parts, layouts);
    if (overlay !== null) return { root: checkout.root, prefix: overlay, dispose };
    const root = await copyWorkTree(checkout, folder);
    for (const part of parts) {
      clearWay(root, part.path, checkout.root);
      putPart(join(root, part.path), part, checkout.root);
    }
    return { root, prefix: [], dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const PREFIX = "ralph-old-checks-";

/** Removes what killed processes of this user have left. */
export async function removeAbandonedOldChecks(commonDir: string): Promise<void> {
  for (const path of temporaryFolders(commonDir).flatMap((folder) => abandonedIn(folder, PREFIX))) {
    const stats = statsAt(path);
    if (stats?.isDirectory() === true && stats.uid === process.getuid?.()) await removeTree(path);
  }
}

/** Best first: that of the machine may be missing or read-only. */
function temporaryFolders(commonDir: string): readonly string[] {
  return [tmpdir(), "/var/tmp", join(commonDir, "ralph")].map(realPathOf);
}

function makeFolder([parent = "", ...others]: readonly string[]): string {
  try {
    return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  } catch (error) {
    if (others.length === 0) throw error;
    return makeFolder(others);
  }
}

/** A file as it has to be; without bytes it is gone. */
interface Part {
  readonly path: string;
  readonly bytes: Uint8Array | null;
  /** As git has it. */
  readonly mode: string;
}

async function readParts(
  { git, root }: Place,
  base: string | null,
  setBacks: readonly SetBack[],
): Promise<readonly Part[]> {
  const plain = setBacks.filter(({ path }) => isPlainPath(path));
  const files = await listBase(git, base);
  const entries = new Map(plain.map(({ path }) => [path, entryIn(files, path)]));
  const old = plain.filter(({ to }) => to === "old");
  const blobs = await readBlobs(
    git,
    old.flatMap(({ path }) => entries.get(path)?.oid ?? []),
  );
  const parts = plain.map((one): Part => {
    const { path } = one;
    if (one.to === "merged") {
      return { path, bytes: Buffer.from(one.text), mode: fileMode(statsAt(join(root, path))?.mode ?? 0) };
    }
    const entry = one.to === "old" ? entries.get(path) : undefined;
    return { path, bytes: blobs.get(entry?.oid ?? "") ?? null, mode: entry?.mode ?? "" };
  });
  // A folder that the task made may stand where a file was, and the other way round.
  return parts.toSorted((a, b) => Number(a.bytes !== null) - Number(b.bytes !== null));
}

/**
 * Writes the part; nothing is at its place. Its date is another second than that of the file as it is now (`like`), and no
 * older than now: build tools and caches of compiled tests see the change.
 */
function putPart(place: string, { path, bytes, mode }: Part, like: string): void {
  if (bytes === null) return;
  if (mode === LINK_MODE) return symlinkSync(Buffer.from(bytes).toString("utf8"), place);
  writeFileSync(place, bytes, { flag: "wx", mode: mode === PROGRAM_MODE ? 0o777 : 0o666 });
  const seconds = Math.max(Date.now(), (statsAt(join(like, path))?.mtimeMs ?? 0) + 2_000) / 1_000;
  utimesSync(place, seconds, seconds);
}

/** Makes the folders of a path and empties its place, without following a link. `like` is the tree to be like. */
function clearWay(root: string, path: string, like: string): void {
  const folders = posix.dirname(path).split("/");
  folders.forEach((part, index) => {
    if (part === ".") return;
    const way = folders.slice(0, index + 1).join("/");
    const place = join(root, way);
    const stats = statsAt(place);
    if (stats?.isDirectory() === true) return;
    const target = stats?.isSymbolicLink() === true ? readlinkSync(place) : null;
    rmSync(place, { force: true });
    mkdirSync(place);
    // A link of our own stands for an ignored folder, whose other files are still needed.
    if (target === join(like, way))
      for (const name of readdirSync(target)) symlinkSync(join(target, name), join(place, name));
    makeLike(place, join(like, way));
  });
  rmSync(join(root, path), { recursive: true, force: true });
}

/** In an overlay the upper folder decides on mode and owner. */
function makeLike(folder: string, model: string): void {
  const stats = statsAt(model);
  if (stats?.isDirectory() !== true) return;
  chmodSync(folder, (stats.mode & 0o7777) | 0o700);
  if (process.getuid?.() === 0) chownSync(folder, stats.uid, stats.gid);
}

interface Attempt {
  readonly layout: Exclude<Layout, "copy">;
  /** Some file systems cannot be the writable part of an overlay. */
  readonly upper: "disk" | "memory";
}

const LAYOUTS: readonly Layout[] = ["root", "user", "mapped-root", "copy"];
const UNSHARE = {
  root: ["--mount"],
  user: ["--user", "--map-current-user", "--keep-caps", "--mount"],
  "mapped-root": ["--user", "--map-root-user", "--mount"],
} as const;
/** Nothing of the repository's may run here. */
const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/** By root: what worked there before; none if nothing does. */
const known = new Map<string, readonly Attempt[]>();

/** The words that start a gate below the old files, or null where no overlay can be had. */
async function tryOverlays(
  checkout: Place,
  folder: string,
  parts: readonly Part[],
  layouts: readonly Layout[],
): Promise<readonly string[] | null> {
  const { root } = checkout;
  const key = JSON.stringify([root, layouts]);
  const before = known.get(key);
  if (process.platform !== "linux" || before?.length === 0 || hasMountBelow(root)) return null;
  if (!(await makeLayer(join(folder, "old"), parts, root))) return null;
  for (const name of ["tree", "git"]) {
    for (const part of ["lower", "upper", "work"]) mkdirSync(join(folder, name, part), { recursive: true });
  }
  makeLike(join(folder, "tree", "upper"), root);
  for (const attempt of before ?? attemptsFor(layouts)) {
    const prefix = overlayPrefix(checkout, folder, attempt);
    if (prefix === null || (before === undefined && !(await isUsable(prefix, root)))) continue;
    known.set(key, [attempt]);
    return prefix;
  }
  known.set(key, []);
  return null;
}

function attemptsFor(layouts: readonly Layout[]): readonly Attempt[] {
  return layouts.flatMap((layout): readonly Attempt[] => {
    if (layout === "copy" || (layout === "root" && process.getuid?.() !== 0)) return [];
    return [
      { layout, upper: "disk" },
      { layout, upper: "memory" },
    ];
  });
}

/** The old files, and for each that is gone the device by which an overlay hides what is below. */
async function makeLayer(layer: string, parts: readonly Part[], root: string): Promise<boolean> {
  mkdirSync(layer);
  const mknod = findProgram("mknod", "/", { PATH: SYSTEM_PATH });
  for (const part of parts) {
    clearWay(layer, part.path, root);
    const place = join(layer, part.path);
    putPart(place, part, root);
    if (part.bytes !== null) continue;
    if (mknod === null) return false;
    const made = await runProgram(mknod, [place, "c", "0", "0"], { cwd: "/", env: { PATH: SYSTEM_PATH } });
    if (!made.isWell) return false;
  }
  return true;
}

/** The git directory of a linked worktree lies elsewhere: a gate must not write old files into its index either. */
const MOUNT = `here=$PWD mount=$1 upper=$2 options=$3 root=$4 git=$5
lay() {
  if [ "$upper" = memory ]; then
    "$mount" -t tmpfs -o mode=700 old-checks "$2" && mkdir "$2/lower" "$2/upper" "$2/work" || return 1
  fi
  "$mount" --bind "$1" "$2/lower" &&
    "$mount" -t overlay -o "lowerdir=$3$2/lower,upperdir=$2/upper,workdir=$2/work$options" old-checks "$1"
}
cd "$6" && lay "$root" tree old: && { [ -z "$git" ] || lay "$git" git ""; } && cd "$here" || {
  echo "ralph: cannot lay the old checks over $root" >&2
  exit 125
}
shift 6
exec "$@"`;

function overlayPrefix(
  { root, gitDir }: Place,
  folder: string,
  { layout, upper }: Attempt,
): readonly string[] | null {
  const [unshare, mount, sh, setpriv] = ["unshare", "mount", "sh", "setpriv"].map((name) =>
    findProgram(name, "/", { PATH: SYSTEM_PATH }),
  );
  if (unshare == null || mount == null || sh == null) return null;
  const elsewhere = `${gitDir}/`.startsWith(`${root}/`) ? "" : gitDir;
  const options = layout === "root" ? "" : ",userxattr";
  // Rights over the namespace would let a gate read and write what its user may not.
  const drop =
    layout === "user" && setpriv != null ? [setpriv, "--inh-caps=-all", "--ambient-caps=-all", "--"] : [];
  const script = [sh, "-c", MOUNT, "ralph-old-checks", mount, upper, options, root, elsewhere, folder];
  return [unshare, ...UNSHARE[layout], "--", ...script, ...drop];
}

/** An overlay that the kernel can only read is mounted without a complaint. */
async function isUsable(prefix: readonly string[], root: string): Promise<boolean> {
  const [program = "", ...args] = prefix;
  const probe = ["/bin/sh", "-c", 'f=.ralph-tmp-$$-probe && : > "$f" && rm "$f"'];
  const env = { PATH: SYSTEM_PATH };
  return (await runProgram(program, [...args, ...probe], { cwd: root, env })).isWell;
}

/** Below a mount point an overlay shows an empty folder. */
function hasMountBelow(root: string): boolean {
  if (!existsSync("/proc/self/mountinfo")) return true;
  const lines = readFileSync("/proc/self/mountinfo", "latin1").split("\n");
  const unescape = (text: string): string =>
    text.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
  const start = Buffer.from(`${root}/`).toString("latin1");
  return lines.some((line) => unescape(line.split(" ")[4] ?? "").startsWith(start));
}

/** Copies a work tree. Dependencies are large and are linked, as is what git ignores once much of it is copied. */
async function copyWorkTree({ git, root, gitDir, commonDir }: Place, folder: string): Promise<string> {
  const copy = join(folder, "copy", basename(root));
  mkdirSync(copy, { recursive: true });
  const list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const job: Copying = {
    from: root,
    to: copy,
    ignored: new Set((await git.records(list)).map((path) => path.replace(/\/$/, ""))),
    folder,
    bytesLeft: BYTES_MAX,
    entries: 0,
  };
  for (const name of readdirSync(root, "latin1"))
    if (name !== ".git") await copyEntry(job, name, job.ignored.has(name));
  copyGitDir({ gitDir, commonDir }, join(folder, "git"), join(copy, ".git"));
  return copy;
}

/** Paths below both folders are git's bytes, which need not be text. */
interface Copying {
  readonly from: string;
  readonly to: string;
  readonly ignored: ReadonlySet<string>;
  /** Where git directories of submodules go. */
  readonly folder: string;
  /** How much may still be copied of what git ignores: reports and caches, to which gates write. */
  bytesLeft: number;
  entries: number;
}

const BYTES_MAX = 100 * 1024 * 1024;
/** Others in this process want their turn, too. */
const ENTRIES_A_TURN = 200;

/** Folders that tools read and do not write; what a dot hides in one is a cache. */
const LINKED =
  /(?:^|\/)(?:\.ralph|(?:node_modules|\.?venv|vendor|bower_components|Pods|\.[tn]ox|deps)(?=\/(?:[^.]|\.(?:bin|pnpm|yarn|store)$)))\/[^/]*$/;

async function copyEntry(job: Copying, path: string, isIgnored: boolean): Promise<void> {
  if ((job.entries += 1) % ENTRIES_A_TURN === 0) await nextTurn();
  const [from, to] = [bytePath(job.from, path), bytePath(job.to, path)];
  const stats = statsAt(from);
  if (stats === null) return;
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(from, "buffer"), to);
    lutimesSync(to, stats.atime, stats.mtime);
  } else if (isIgnored && LINKED.test(path)) symlinkSync(from, to);
  else if (stats.isDirectory()) {
    mkdirSync(to);
    const names = readdirSync(from, "latin1");
    const isSubmodule = names.includes(".git");
    // A link in place of the folder would not be ignored by a pattern such as `node_modules/`.
    for (const name of names) {
      const child = `${path}/${name}`;
      await copyEntry(job, child, isIgnored || isSubmodule || job.ignored.has(child));
    }
  } else if (posix.basename(path) === ".git") copySubmodule(from.toString(), to.toString(), job);
  else if (isIgnored && (job.bytesLeft -= stats.size) < 0) symlinkSync(from, to);
  else if (stats.isFile()) {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    utimesSync(to, stats.atime, stats.mtime);
  }
}

/** Its file says relative to itself where its git directory is. */
function copySubmodule(file: string, link: string, { folder }: Copying): void {
  const path = readFileSync(file, "utf8").replace(/^gitdir: |\n$/g, "");
  const gitDir = resolve(dirname(file), path);
  copyGitDir({ gitDir, commonDir: gitDir }, mkdtempSync(join(folder, "git-")), link);
}

/** A git directory as of a linked worktree: commits are shared, the index is its own. */
function copyGitDir(
  { gitDir, commonDir }: Pick<Place, "gitDir" | "commonDir">,
  own: string,
  link: string,
): void {
  mkdirSync(own, { recursive: true });
  for (const name of readdirSync(gitDir)) {
    if (/^(?:HEAD|index|sharedindex\..*|config\.worktree)$/.test(name))
      copyFileSync(join(gitDir, name), join(own, name));
  }
  const sparse = join("info", "sparse-checkout");
  if (existsSync(join(gitDir, sparse))) {
    mkdirSync(join(own, "info"));
    copyFileSync(join(gitDir, sparse), join(own, sparse));
  }
  writeFileSync(join(own, "commondir"), `${commonDir}\n`);
  writeFileSync(join(own, "gitdir"), `${link}\n`);
  if (!existsSync(link)) writeFileSync(link, `gitdir: ${own}\n`);
}
