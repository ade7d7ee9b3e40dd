import { accessSync, constants, lstatSync, readFileSync, type Stats } from "node:fs";
import { join, dirname, posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  type LeftOutFile,
  PATHS_KEPT,
  type Leftover,
  type Leftovers,
} from "../../../core/verdict/evidence.ts";
import type { Checkout } from "./checkout.ts";
import type { StatusEntry } from "./read-status.ts";
import type { Owner } from "./whose-path.ts";

/** What is uncommitted, by what may happen to it. */
export interface SortedLeftovers {
  /** May be committed. */
  readonly take: readonly StatusEntry[];
  /** Cannot be committed: conflicts, a repository inside ours, what git cannot read. */
  readonly stay: readonly StatusEntry[];
  readonly tooRisky: readonly (StatusEntry & { readonly why: LeftOutFile["why"] })[];
  /** Neither committed nor counted. */
  readonly ours: readonly StatusEntry[];
}

const COMMIT_BYTES_MAX = 10 * 1024 * 1024;
/** Then others may have their turn: a forgotten node_modules has a hundred thousand. */
const ENTRIES_AT_ONCE = 1_000;

/** One look at the work tree. */
export async function readLeftovers(
  checkout: Checkout,
  whose: (path: string) => Owner,
): Promise<SortedLeftovers> {
  const entries = await checkout.walk.entries();
  const gitignore = entries.find((entry) => entry.path === ".gitignore");
  const isOwn = gitignore !== undefined && (await isOwnGitignore(checkout, gitignore));
  return sortEntries(entries, checkout.root, (entry) =>
    isOwn && entry === gitignore ? "ours" : whose(entry.path),
  );
}

async function sortEntries(
  entries: readonly StatusEntry[],
  root: string,
  whose: (entry: StatusEntry) => Owner,
): Promise<SortedLeftovers> {
  const take: StatusEntry[] = [];
  const stay: StatusEntry[] = [];
  const ours: StatusEntry[] = [];
  const tooRisky: (StatusEntry & { why: LeftOutFile["why"] })[] = [];
  // Git commits nothing at all while there is a conflict.
  const hasConflict = entries.some((entry) => entry.is === "conflict");
  for (const [at, entry] of entries.entries()) {
    if (at % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1) await setImmediate();
    if (whose(entry) === "ours") {
      ours.push(entry);
      continue;
    }
    const fate = entry.committable ? fateOf(entry, root) : "stay";
    if (fate === "take") (hasConflict ? stay : take).push(entry);
    else if (fate === "stay") stay.push(entry);
    else tooRisky.push({ ...entry, why: fate });
  }
  return { take, stay, ours, tooRisky };
}

function fateOf(entry: StatusEntry, root: string): "take" | "stay" | LeftOutFile["why"] {
  if (entry.missing) return "take";
  const path = Buffer.from(join(Buffer.from(root, "utf8").toString("latin1"), entry.bytes), "latin1");
  let stats: Stats | undefined;
  try {
    stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() === true) accessSync(path, constants.R_OK);
  } catch {
    return "stay"; // not readable for us: neither is it for git
  }
  // Vanished since git looked: git will see that too.
  if (stats === undefined) return "take";
  if (stats.isDirectory() || stats.isSymbolicLink()) return "take";
  if (!stats.isFile()) return "stay";
  if (stats.size > COMMIT_BYTES_MAX) return "too-big";
  return looksSecret(entry.path, () => readFileSync(path, "utf8")) ? "looks-secret" : "take";
}

/** What these paths look like now, as far as they are remembered. */
export function leftoversAt(root: string, paths: readonly string[]): readonly Leftover[] {
  return paths.slice(0, PATHS_KEPT).map((path) => ({ path, look: lookOf(join(root, path)) }));
}

/** Whether a path was left like this before: then it is no news. */
export function isUntouched(root: string, left: readonly Leftover[]): (path: string) => boolean {
  const looks = new Map(left.map(({ path, look }) => [path, look]));
  return (path) => looks.has(path) && looks.get(path) === lookOf(join(root, path));
}

/** Whether gates left an uncommitted path, and nobody touched it since. */
export function isLeftByGates(
  root: string,
  { byAgents, byGates, gatesRan }: Leftovers,
): (path: string) => boolean {
  const isKnown = isUntouched(root, byGates);
  if (gatesRan === null) return isKnown;
  const agents = new Set(byAgents.map(({ path }) => path));
  return (path) => {
    if (isKnown(path) || agents.has(path)) return isKnown(path);
    const time = changedAt(join(root, path));
    return time !== null && time > gatesRan.after && time <= gatesRan.upTo;
  };
}

/** Whether an uncommitted path was left by an agent or a gate, whatever became of it. */
export function isAnyLeftover(root: string, left: Leftovers): (path: string) => boolean {
  const known = new Set([...left.byAgents, ...left.byGates].map(({ path }) => path));
  const isGates = isLeftByGates(root, left);
  return (path) => known.has(path) || isGates(path);
}

/** The date of a file, or of the folder that has lost it. A folder does not show what happened deep inside of it. */
function changedAt(path: string): number | null {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file !== undefined) return file.isDirectory() ? null : file.ctimeMs;
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false });
  return folder === undefined ? changedAt(dirname(path)) : folder.ctimeMs;
}

/** Another text when the file has changed. */
export function lookOf(path: string): string {
  try {
    const { mtimeNs, size, mode, ino } = lstatSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${mode} ${ino}`;
  } catch {
    return "gone";
  }
}

const FILE = ".gitignore";

/** Whether an uncommitted `.gitignore` differs from HEAD by nothing but lines that `ralph init` adds. */
async function isOwnGitignore(checkout: Checkout, entry: StatusEntry): Promise<boolean> {
  const isFile = lstatSync(join(checkout.root, FILE), { throwIfNoEntry: false })?.isFile() === true;
  if (entry.path !== FILE || !isFile || entry.is === "conflict") return false;
  const now = readFileSync(join(checkout.root, FILE), "latin1");
  const { code, stdout } = await checkout.git.run(["cat-file", "blob", `HEAD:${FILE}`]);
  const before = code === 0 ? stdout : "";
  return othersLines(now, checkout.ralphPrefix) === othersLines(before, checkout.ralphPrefix);
}

function othersLines(text: string, ralphPrefix: string | null): string {
  const isOurs = (line: string): boolean =>
    line === "" ||
    /^#\s*ralph\b/i.test(line) ||
    (ralphPrefix !== null && line.replace(/^!?\/?/, "").startsWith(ralphPrefix));
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => !isOurs(line))
    .join("\n");
}

/** Whether a file is better not committed without a person looking: by its name, seldom by its content. */
export function looksSecret(path: string, read: () => string): boolean {
  const name = posix.basename(path).toLowerCase();
  if (IS_EXAMPLE.test(name)) return false;
  if (name === ".npmrc" || name === ".yarnrc.yml") return /_authToken|_password|npmAuthToken/.test(read());
  return SECRET_NAMES.some((pattern) => pattern.test(name)) || SECRET_PATHS.test(path);
}

const IS_EXAMPLE = /[._-](example|sample|template|dist|pub)([._-]|$)/;

const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/,
  /\.(pem|key|p12|pfx|ppk|jks|keystore|kdbx)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  /^(credentials|client_secret|service[-_]account).*\.json$/,
  /^\.(netrc|pgpass|pypirc|htpasswd|git-credentials)$/,
  /^_netrc$/,
];

const SECRET_PATHS = /(^|\/)(\.aws\/credentials|\.docker\/config\.json|\.kube\/config)$/;
