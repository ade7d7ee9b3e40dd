import type { ChangeSet } from "../core/report/evidence.ts";

type Files = ReadonlyMap<string, string>;

/** A work tree with one line of commits; whatever lies in the tree is committed when somebody asks. */
export class ImaginedRepository {
  readonly #commits: Files[] = [new Map()];
  readonly #tree = new Map<string, string>();

  get head(): string {
    return String(this.#commits.length - 1);
  }

  write(path: string, text: string): void {
    this.#tree.set(path, text);
  }

  commit(): void {
    if (changedBetween(this.#last, this.#tree).length === 0) return;
    this.#commits.push(new Map(this.#tree));
  }

  changedSince(commit: string | null): ChangeSet {
    const before = this.#commits[Number(commit ?? 0)] ?? new Map<string, string>();
    const paths = changedBetween(before, this.#tree);
    return { files: paths.length, paths };
  }

  get #last(): Files {
    return this.#commits.at(-1) ?? new Map<string, string>();
  }
}

/** Nobody removes a file here. */
function changedBetween(before: Files, after: Files): readonly string[] {
  return [...after.keys()].filter((path) => after.get(path) !== before.get(path));
}
