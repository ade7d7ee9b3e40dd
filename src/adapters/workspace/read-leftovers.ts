import { accessSync, constants, lstatSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { LeftOutFile } from "../../core/report/evidence.ts";
import type { Checkout } from "./checkout.ts";
import { looksSecret } from "./looks-secret.ts";
import { isOwnGitignore } from "./own-gitignore.ts";
import type { StatusEntry } from "./read-status.ts";
import type { Owner } from "./whose-path.ts";

/** What is uncommitted, by what may happen to it. */
export interface Leftovers {
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
export async function readLeftovers(checkout: Checkout, whose: (path: string) => Owner): Promise<Leftovers> {
  const entries = await checkout.walk.entries();
  // What was plain need not be so any more.
  if (entries.some((entry) => entry.is === "conflict")) checkout.plainlyTracked.clear();
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
): Promise<Leftovers> {
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
    const fate = entry.committable && !hasConflict ? fateOf(entry, root) : "stay";
    if (fate === "take") take.push(entry);
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
