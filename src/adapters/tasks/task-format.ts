import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { type PlacedTask, planProblem } from "../../core/plan/check-plan.ts";
import { compareTasks, type ListChange } from "../../core/plan/list-changes.ts";
import type { SourceIdentity, SourceKind, Task, TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { SourceDemands, TaskSource } from "../../engine/ports.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import { safePath } from "../system/safe-path.ts";
import { guardList, type GuardedFormat, type ListPlace } from "./operators-list.ts";

/** A format of a file with tasks: how its tasks are read, and what its mark looks like. */
export interface TaskFormat {
  readonly kind: SourceKind;
  /** Rejects with `bad-tasks` what cannot be worked on; `path` is for messages. */
  read(file: Buffer, path: string): { readonly tasks: readonly Task[]; readonly demands: SourceDemands };
  /**
   * The file with the wanted tasks marked, or not marked any more, and the ids that this changed; all else byte for
   * byte. Throws only if the file is not of this format at all.
   */
  mark(file: Buffer, path: string, marking: Marking): Marked;
}

export interface Marking {
  readonly isDone: boolean;
  readonly isWanted: (id: TaskId) => boolean;
}

export interface Marked {
  readonly file: Buffer;
  readonly changed: readonly TaskId[];
}

/** Tasks in a file, read and marked where it lies. */
export function createFormatSource(
  place: ListPlace,
  format: TaskFormat,
  stories?: GuardedFormat["stories"],
): TaskSource {
  const { path } = place;
  const identity: SourceIdentity = { kind: format.kind, label: posix.basename(path), path };
  const file = new TaskFile(place);
  const readIn = createMemo((bytes: Buffer) => format.read(bytes, path), sameBytes);
  const marked = (bytes: Buffer, task: TaskId, isDone: boolean): Buffer =>
    format.mark(bytes, path, { isDone, isWanted: (id) => id === task }).file;
  return {
    identity,
    files: [{ path, isAgents: false }],
    observe: async () => ({ source: identity, tasks: file.read(readIn).tasks }),
    demands: async () => file.read(readIn).demands,
    mark: async (task) => file.edit((bytes) => marked(bytes, task, true)),
    unmark: async (task) => file.edit((bytes) => marked(bytes, task, false)),
    markedIn: marked,
    list: guardList(place, {
      compare: (one, other) => compareLists(one, other, format, path),
      doneIn: (bytes) => format.read(bytes, path).tasks.flatMap(({ id, done }) => (done ? [id] : [])),
      ...(stories && { stories }),
    }),
  };
}

function compareLists(
  before: Buffer,
  after: Buffer,
  format: TaskFormat,
  path: string,
): readonly ListChange[] {
  const [was, now] = [format.read(before, path), format.read(after, path)];
  const checks: readonly ListChange[] =
    was.demands.checks.join("\n") === now.demands.checks.join("\n")
      ? []
      : [
          {
            is: "other",
            what: `changed the commands that check the work from ${shown(was)} to ${shown(now)}`,
          },
        ];
  const branch: readonly ListChange[] =
    was.demands.branch === now.demands.branch
      ? []
      : [{ is: "other", what: `changed the branch to ${now.demands.branch ?? "none"}` }];
  const changes = [...compareTasks(was.tasks, now.tasks), ...checks, ...branch];
  if (changes.length > 0 || meaningOf(before) === meaningOf(after)) return changes;
  return [{ is: "other", what: "changed text that is no task" }];
}

function shown({ demands }: { readonly demands: SourceDemands }): string {
  return demands.checks.map((check) => `"${check}"`).join(", ") || "none";
}

/** Without what only a formatter changes. */
export function meaningOf(file: Buffer): string {
  const text = file.toString("utf8").replace(/^\uFEFF/, "");
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text.replaceAll(/\s+/g, "");
  }
}

/** The function, which remembers its last answer: asked about the same again it does no work. */
export function createMemo<Input, Output>(
  make: (input: Input) => Output,
  isSame: (a: Input, b: Input) => boolean = Object.is,
): (input: Input) => Output {
  let last: { readonly input: Input; readonly output: Output } | null = null;
  return (input) => {
    if (last !== null && isSame(last.input, input)) return last.output;
    last = { input, output: make(input) };
    return last.output;
  };
}

export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.equals(b);
}

export function checkedTasks(placed: readonly PlacedTask[], path: string): readonly Task[] {
  const problem = planProblem(placed);
  if (problem !== null) throw new RalphError("bad-tasks", `${path}: ${problem}`);
  return placed.map(({ task }) => task);
}

/** Of a source that only lists tasks. */
export const NO_DEMANDS: SourceDemands = { checks: [], branch: null };

/** The operator's file with the tasks; read anew for every act, since somebody may have edited it meanwhile. */
export class TaskFile {
  readonly #root: string;
  /** Relative to the root. */
  readonly path: string;

  constructor({ root, path }: { readonly root: string; readonly path: string }) {
    this.#root = root;
    this.path = path;
  }

  /** Answers what `use` makes of the file. */
  read<Result>(use: (file: Buffer) => Result): Result {
    const real = safePath(this.#root, this.path);
    const file = readOrNull(real);
    if (file === null) throw notThere(this.path, existsSync(real));
    return use(file);
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
    if (changed !== null && !changed.equals(file)) writeFileAtomically(real, changed);
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
