import type { CollectRequest } from "../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { bytesOf, textOf } from "../git/git.ts";
import { configurationPaths, contentAt, isConfiguration, isSameContent, type Content } from "./kept-files.ts";
import { isUntouched } from "./known-leftovers.ts";
import type { Leftovers } from "./read-leftovers.ts";
import type { StatusEntry } from "./read-status.ts";
import type { Owner } from "./whose-path.ts";

/** A protected path that is not what it was when the iteration began. */
export interface Tampered {
  /** As git writes it. */
  readonly bytes: string;
  /** What it was; null when git knows. */
  readonly was: Content | null;
  readonly isCommitted: boolean;
  readonly isStaged: boolean;
}

export interface Look {
  readonly left: Leftovers;
  /** What the commits of the iteration changed: git's bytes, and whether it was there before. */
  readonly inCommits: ReadonlyMap<string, "new" | "old">;
  readonly whose: (path: string) => Owner;
  /** The configuration as it was; null when this process did not see the iteration begin. */
  readonly kept: ReadonlyMap<string, Content> | null;
}

export function findTampered(checkout: Checkout, request: CollectRequest, look: Look): readonly Tampered[] {
  const dirty = new Map(
    [...look.left.take, ...look.left.stay, ...look.left.tooRisky, ...look.left.ours].map((entry) => [
      entry.bytes,
      entry,
    ]),
  );
  const found = new Map<string, Content | null>();
  for (const bytes of changedInGit(checkout, request, look)) found.set(bytes, null);
  for (const path of configurationPaths(checkout.root, checkout.ralphPrefix, look.kept)) {
    if (!isApart(path, checkout, look) || !request.isProtected(path) || isOperators(path, request)) continue;
    const bytes = bytesOf(path);
    const entry = dirty.get(bytes);
    const was = look.kept === null ? null : (look.kept.get(path) ?? { is: "missing" });
    const isTampered =
      was === null
        ? isLost(look.inCommits.get(bytes), entry)
        : isChanged(was, contentAt(checkout.root, path), look.inCommits.has(bytes) && entry !== undefined);
    if (isTampered) found.set(bytes, was);
  }
  return [...found].map(([bytes, was]) => {
    const entry = dirty.get(bytes);
    const isStaged = entry !== undefined && (entry.staged || entry.is === "conflict");
    return { bytes, was, isCommitted: look.inCommits.has(bytes), isStaged };
  });
}

function* changedInGit(checkout: Checkout, request: CollectRequest, look: Look): Iterable<string> {
  const { left, inCommits, whose } = look;
  const isOld = isUntouched(checkout.root, request.leftBefore);
  const isMeant = (path: string): boolean => request.isProtected(path) && !isApart(path, checkout, look);
  for (const { bytes, path } of [...left.take, ...left.stay, ...left.tooRisky]) {
    if (isMeant(path) && !isOld(path)) yield bytes;
  }
  for (const bytes of inCommits.keys()) {
    const path = textOf(bytes);
    if (isMeant(path) && whose(path) !== "ours") yield bytes;
  }
}

/** Of our own folder only the configuration is protected: the rest is ours to write, or everybody's. */
function isApart(path: string, { ralphPrefix }: Checkout, { kept }: Look): boolean {
  if (ralphPrefix !== null && path.startsWith(ralphPrefix)) return true;
  return kept !== null && isConfiguration(path, ralphPrefix);
}

/** `isOtherInGit`: what git has of it now is neither what it had nor what lies there. */
function isChanged(was: Content, now: Content, isOtherInGit: boolean): boolean {
  return was.is !== "other" && (isOtherInGit || !isSameContent(was, now));
}

/**
 * Without a memory of it, a configuration that is uncommitted may be the operator's. What is gone, or was committed
 * over what git had, can be put back all the same.
 */
function isLost(inCommits: "new" | "old" | undefined, entry: StatusEntry | undefined): boolean {
  return inCommits === "old" || (entry !== undefined && entry.missing);
}

function isOperators(path: string, { leaveAlone, ignore }: CollectRequest): boolean {
  return [...leaveAlone, ...ignore].some(
    (own) => own === path || (own.endsWith("/") && path.startsWith(own)),
  );
}
