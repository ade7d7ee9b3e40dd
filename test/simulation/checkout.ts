import type { Author, Files, Branches } from "./branches.ts";
import { versionOf, workText } from "./work-text.ts";

/** A work tree on a branch: the user's own, or a task's. */
export class Checkout {
  readonly root: string;
  branch: string;
  readonly branches: Branches;
  #tree: Map<string, string>;
  /** Commits of what agents had left, and what each of them was made on. */
  readonly leftovers = new Map<string, string>();
  /** What was put back, by iteration. */
  readonly putBack = new Map<string, readonly string[]>();
  readonly #detachedAt: string | null;

  /** `detachedAt`: it has this commit checked out, whatever becomes of any branch. */
  constructor(branches: Branches, root: string, branch: string, detachedAt: string | null = null) {
    this.#detachedAt = detachedAt;
    this.root = root;
    this.branch = branch;
    this.branches = branches;
    this.#tree = new Map(this.#committed);
  }

  get head(): string {
    return this.#detachedAt ?? this.branches.tip(this.branch) ?? "0";
  }

  get files(): Files {
    return this.#tree;
  }

  /** The version of a file in the work tree, and in the last commit. */
  version(name: string): number {
    return versionOf(this.#tree.get(name));
  }

  committedVersion(name: string): number {
    return versionOf(this.#committed.get(name));
  }

  write(name: string, version = this.version(name) + 1): void {
    this.put(name, workText(version));
  }

  /** Undefined removes the file. */
  put(name: string, text: string | undefined): void {
    putInto(this.#tree, name, text);
  }

  restore(name: string): void {
    this.put(name, this.#committed.get(name));
  }

  uncommitted(): readonly string[] {
    return namesChanged(this.#committed, this.#tree);
  }

  commit(isWanted: (name: string) => boolean = () => true, author: Author = "agent"): void {
    const changed = this.uncommitted().filter(isWanted);
    if (changed.length === 0) return;
    const next = new Map(this.#committed);
    for (const name of changed) putInto(next, name, this.#tree.get(name));
    this.branches.move(this.branch, this.branches.add(next, [this.head], author));
  }

  /** The branch stands elsewhere now: files that nobody has touched follow it. */
  follow(from: Files): void {
    const moved = new Map(this.#committed);
    for (const name of namesChanged(from, this.#tree)) putInto(moved, name, this.#tree.get(name));
    this.#tree = moved;
  }

  /** Somebody checks out another branch, and takes along what is not committed. */
  switchTo(branch: string): void {
    const before = this.#committed;
    this.branch = branch;
    this.follow(before);
  }

  /** Uncommitted changes, and new files where others come. */
  inTheWayOf(commit: string): readonly string[] {
    const coming = this.changedSince(commit);
    return this.uncommitted().filter((name) => this.#committed.has(name) || coming.includes(name));
  }

  /** Files whose committed text differs from the one at that commit. */
  changedSince(commit: string | null): readonly string[] {
    return namesChanged(this.branches.files(commit), this.#committed);
  }

  get #committed(): Files {
    return this.branches.files(this.head);
  }
}

function namesChanged(before: Files, after: Files): readonly string[] {
  const names = new Set([...after.keys(), ...before.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

function putInto(files: Map<string, string>, name: string, text: string | undefined): void {
  if (text === undefined) files.delete(name);
  else files.set(name, text);
}
