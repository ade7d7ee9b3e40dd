import { posix } from "node:path";

/** Paths to be found by any end of them, whatever the composition of their letters. */
export class PathIndex {
  readonly #byName = new Map<string, string[]>();

  constructor(paths: Iterable<string>) {
    for (const path of paths) this.#add(spelled(path));
  }

  /** Names the same file: the same path, or one that ends with the other. */
  has(path: string): boolean {
    return this.#alike(path).length > 0;
  }

  /** Whether the path lies in a folder that is one of ours (another repository inside this one). */
  hasFolderOf(path: string, isFolder: (folder: string) => boolean): boolean {
    for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) {
      if (this.#alike(at).some(isFolder)) return true;
    }
    return false;
  }

  #add(path: string): void {
    const name = posix.basename(path);
    const others = this.#byName.get(name);
    if (others === undefined) this.#byName.set(name, [path]);
    else others.push(path);
  }

  #alike(path: string): readonly string[] {
    const alike = this.#byName.get(posix.basename(path)) ?? [];
    return alike.filter((one) => one === path || one.endsWith(`/${path}`) || path.endsWith(`/${one}`));
  }
}

/** One spelling for all: no `./`, no `..` inside, no slash at the end, letters composed. */
export function spelled(path: string): string {
  const normal = posix.normalize(path.normalize("NFC"));
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}
