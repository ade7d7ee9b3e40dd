import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import { safePath } from "../system/safe-path.ts";

/** The operator's file with the tasks; read anew for every act, since somebody may have edited it meanwhile. */
export class TaskFile {
  readonly #root: string;
  /** Relative to the root. */
  readonly path: string;
  #lastGood: Buffer | null = null;

  constructor({ root, path }: { readonly root: string; readonly path: string }) {
    this.#root = root;
    this.path = path;
  }

  /** Answers what `use` makes of the file. What it accepts is what `putBack` would put back. */
  read<Result>(use: (file: Buffer) => Result): Result {
    const real = safePath(this.#root, this.path);
    const file = readOrNull(real);
    if (file === null) throw notThere(this.path, existsSync(real));
    const result = use(file);
    this.#lastGood = file;
    return result;
  }

  /** The file as it is, or null when there is none that may be read. */
  peek(): Buffer | null {
    const real = this.#realPath();
    return real === null ? null : readOrNull(real);
  }

  /** Writes what `change` makes of the file, unless that is null. A file that is gone is left alone. */
  edit(change: (file: Buffer) => Buffer | null): void {
    const real = this.#realPath();
    const file = real === null ? null : readOrNull(real);
    if (real === null || file === null) return;
    const changed = change(file);
    if (changed !== null) writeFileAtomically(real, changed);
  }

  /** The tasks are the operator's: an agent that deleted or broke the file has not done them. */
  putBack(isBroken: (file: Buffer) => boolean = () => false): void {
    const real = this.#realPath();
    if (real === null || this.#lastGood === null || !existsSync(dirname(real))) return;
    const file = existsSync(real) ? readOrNull(real) : null;
    if (file === null ? !existsSync(real) : isBroken(file)) writeFileAtomically(real, this.#lastGood);
  }

  /** Puts this in the file's place, whatever stands there: a folder or a pipe is set aside, a link is taken away. */
  replaceWith(file: Buffer): void {
    const path = this.#realPath() ?? join(this.#root, this.path);
    mkdirSync(dirname(path), { recursive: true });
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there?.isSymbolicLink() === true) rmSync(path);
    else if (there !== undefined && !there.isFile()) renameSync(path, `${path}.set-aside-${Date.now()}`);
    writeFileAtomically(path, file);
  }

  /** An agent may have put anything in the file's place; the next look at the tasks says so to the operator. */
  #realPath(): string | null {
    try {
      return safePath(this.#root, this.path);
    } catch {
      return null;
    }
  }
}

function readOrNull(path: string): Buffer | null {
  try {
    return statSync(path).isFile() ? readFileSync(path) : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new RalphError("no-tasks", `${path} cannot be read (${code})`, {
      hint: "make it readable for this user",
      cause: error,
    });
  }
}

function notThere(path: string, isSomething: boolean): RalphError {
  return new RalphError("no-tasks", isSomething ? `${path} is not a file` : `${path} does not exist`, {
    hint: "name the file that has the tasks with --source",
  });
}
