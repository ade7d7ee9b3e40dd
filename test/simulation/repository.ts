type Files = ReadonlyMap<string, number>;

/** A git repository as small as it can be: a file is a name and a version of it. */
export class SimulatedRepository {
  readonly #commits: Files[] = [new Map()];
  #tree = new Map<string, number>();
  /** What was put back, by iteration. */
  readonly putBack = new Map<string, readonly string[]>();

  get head(): string {
    return String(this.#commits.length - 1);
  }

  /** The version of a file in the work tree, and in the last commit. */
  version(name: string): number {
    return this.#tree.get(name) ?? 0;
  }

  committedVersion(name: string): number {
    return this.#commits.at(-1)?.get(name) ?? 0;
  }

  versionAt(commit: string | null, name: string): number {
    return this.#commits[Number(commit ?? 0)]?.get(name) ?? 0;
  }

  write(name: string, version = this.version(name) + 1): void {
    this.#tree.set(name, version);
  }

  restore(name: string): void {
    const version = this.committedVersion(name);
    if (version === 0) this.#tree.delete(name);
    else this.#tree.set(name, version);
  }

  uncommitted(): readonly string[] {
    return [...this.#tree.keys()].filter((name) => this.version(name) !== this.committedVersion(name));
  }

  commit(isWanted: (name: string) => boolean = () => true): void {
    const changed = this.uncommitted().filter(isWanted);
    if (changed.length === 0) return;
    const next = new Map(this.#commits.at(-1));
    for (const name of changed) next.set(name, this.version(name));
    this.#commits.push(next);
  }

  /** Files whose committed version differs from the one at that commit. */
  changedSince(commit: string | null): readonly string[] {
    const before = this.#commits[Number(commit ?? 0)];
    const after = this.#commits.at(-1) ?? new Map<string, number>();
    return [...after.keys()].filter((name) => after.get(name) !== (before?.get(name) ?? 0));
  }
}
