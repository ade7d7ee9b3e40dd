/** A file is a name and a text. */
export type Files = ReadonlyMap<string, string>;

export type Author = "agent" | "person" | "merge";

interface Commit {
  readonly files: Files;
  readonly parents: readonly string[];
  readonly author: Author;
}

const FIRST: Commit = { files: new Map(), parents: [], author: "person" };

/** A git repository as small as it can be: commits, and branches that name them. */
export class Branches {
  readonly #commits: Commit[] = [FIRST];
  readonly #branches = new Map<string, string>();
  /** Under which name a branch was kept before it moved. */
  readonly backups = new Map<string, string>();

  constructor(branch: string) {
    this.#branches.set(branch, "0");
  }

  tip(branch: string): string | null {
    return this.#branches.get(branch) ?? null;
  }

  move(branch: string, commit: string | null): void {
    if (commit === null) this.#branches.delete(branch);
    else this.#branches.set(branch, commit);
  }

  get names(): readonly string[] {
    return [...this.#branches.keys()];
  }

  files(commit: string | null): Files {
    return this.#commits[Number(commit ?? 0)]?.files ?? FIRST.files;
  }

  add(files: Files, parents: readonly string[], author: Author): string {
    this.#commits.push({ files, parents, author });
    return String(this.#commits.length - 1);
  }

  has(commit: string): boolean {
    return this.#commits[Number(commit)] !== undefined;
  }

  /** Under this name, or the next one that is free, unless it has one already. */
  keep(name: string, commit: string): void {
    for (let at = 1; ; at += 1) {
      const free = at === 1 ? name : `${name}-${at}`;
      if ((this.backups.get(free) ?? commit) !== commit) continue;
      this.backups.set(free, commit);
      return;
    }
  }

  by(author: Author): readonly string[] {
    return [...this.#commits.keys()].filter((at) => this.#commits[at]?.author === author).map(String);
  }

  contains(commit: string | null, other: string): boolean {
    return commit !== null && this.#past(commit).has(other);
  }

  /** How many commits one has that the other does not have. */
  besides(commit: string | null, other: string): number {
    const past = this.#past(other);
    return commit === null ? 0 : [...this.#past(commit)].filter((one) => !past.has(one)).length;
  }

  /** Numbers grow from parent to child: the greatest of what both have has none of the others behind it. */
  mergeBase(one: string, other: string): string {
    const past = this.#past(other);
    const shared = [...this.#past(one)].filter((commit) => past.has(commit)).map(Number);
    return String(Math.max(...shared));
  }

  #past(commit: string): ReadonlySet<string> {
    const seen = new Set<string>();
    const open = [commit];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(this.#commits[Number(next)]?.parents ?? []));
    }
    return seen;
  }
}

export interface MergedFiles {
  readonly files: ReadonlyMap<string, string>;
  readonly conflicts: readonly string[];
}

/** What became of the files on both sides since they parted; a conflict where both have changed the same one. */
export function mergeFiles(parted: Files, ours: Files, theirs: Files): MergedFiles {
  const files = new Map(ours);
  const conflicts: string[] = [];
  for (const name of new Set([...parted.keys(), ...theirs.keys()])) {
    const [before, own, other] = [parted.get(name), ours.get(name), theirs.get(name)];
    if (other === before || other === own) continue;
    if (own !== before) conflicts.push(name);
    else if (other === undefined) files.delete(name);
    else files.set(name, other);
  }
  return { files, conflicts };
}

export function sameFiles(one: Files, other: Files): boolean {
  return one.size === other.size && [...one].every(([name, text]) => other.get(name) === text);
}
