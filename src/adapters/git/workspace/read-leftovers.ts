import { accessSync, constants, lstatSync, readFileSync, type Stats } from "node:fs";
import { join, dirname, posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  type LeftOutFile,
  PATHS_KEPT,
  type Leftover,
  type Leftovers,
} from "../../../core/verdict/evidence.ts";
import { statsAt } from "../../process/look-at.ts";
import { bytePath } from "../git.ts";
import type { Checkout, Owners, StatusEntry } from "./checkout.ts";

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
export async function readLeftovers(checkout: Checkout, whose: Owners["whose"]): Promise<SortedLeftovers> {
  const entries = await checkout.walk.entries();
  const take: StatusEntry[] = [];
  const stay: StatusEntry[] = [];
  const ours: StatusEntry[] = [];
  const tooRisky: SortedLeftovers["tooRisky"][number][] = [];
  // Git commits nothing at all while there is a conflict.
  const isBlocked = entries.some((entry) => entry.is === "conflict");
  for (const [at, entry] of entries.entries()) {
    if (at % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1) await setImmediate();
    const isOurs =
      whose(entry.path) === "ours" ||
      (entry.path === ".gitignore" && (await isOwnGitignore(checkout, entry)));
    if (isOurs) {
      ours.push(entry);
      continue;
    }
    const fate = entry.committable ? fateOf(entry, checkout.root) : "stay";
    if (fate === "stay" || (fate === "take" && isBlocked)) stay.push(entry);
    else if (fate === "take") take.push(entry);
    else tooRisky.push({ ...entry, why: fate });
  }
  return { take, stay, ours, tooRisky };
}

/** All but what is ours. */
export function othersLeftovers({ take, stay, tooRisky }: SortedLeftovers): readonly StatusEntry[] {
  return [...take, ...stay, ...tooRisky];
}

function fateOf(entry: StatusEntry, root: string): "take" | "stay" | LeftOutFile["why"] {
  if (entry.missing) return "take";
  const path = bytePath(root, entry.bytes);
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

/** The date of a file, or of the folder that has lost it. A folder does not show what happened deep inside of it. */
function changedAt(path: string): number | null {
  const file = statsAt(path);
  if (file !== null) return file.isDirectory() ? null : file.ctimeMs;
  return statsAt(dirname(path))?.ctimeMs ?? changedAt(dirname(path));
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

/** Whether an uncommitted `.gitignore` differs from HEAD by nothing but lines that `ralph init` adds. */
async function isOwnGitignore({ root, git, ralphPrefix }: Checkout, entry: StatusEntry): Promise<boolean> {
  const place = join(root, entry.path);
  if (entry.is === "conflict" || statsAt(place)?.isFile() !== true) return false;
  const isOurs = (line: string): boolean =>
    line === "" ||
    /^#\s*ralph\b/i.test(line) ||
    (ralphPrefix !== null && line.replace(/^!?\/?/, "").startsWith(ralphPrefix));
  const othersLines = (text: string): string => {
    const lines = text.split("\n").map((line) => line.trimEnd());
    return lines.filter((line) => !isOurs(line)).join("\n");
  };
  const { code, stdout } = await git.run(["cat-file", "blob", "HEAD:.gitignore"]);
  return othersLines(readFileSync(place, "latin1")) === othersLines(code === 0 ? stdout : "");
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
