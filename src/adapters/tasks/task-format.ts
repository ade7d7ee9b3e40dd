import { existsSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { compareTasks, type ListChange, type PlacedTask, planProblem } from "../../core/plan-checks.ts";
import type { SourceIdentity, SourceKind, Task, TaskId } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import type { SourceDemands, TaskSource } from "../../engine/ports.ts";
import { writeFileAtomically } from "../process/atomic-file.ts";
import { safePath } from "../process/safe-path.ts";
import { guardList, type ListPlace, type StoriesFormat } from "./operators-list.ts";

/** A format of a file with tasks; `path` is for messages. All edits keep every byte that they do not have to change. */
export interface TaskFormat {
  readonly kind: SourceKind;
  /** Rejects with `bad-tasks` what cannot be worked on. */
  read(file: Buffer, path: string): { readonly tasks: readonly Task[]; readonly demands: SourceDemands };
  /** The file with the task marked, or not marked any more. Throws only if the file is not of this format at all. */
  mark(file: Buffer, path: string, task: TaskId, isDone: boolean): Buffer;
  /** The file with one more task, in the manner of those that are there. */
  add(file: Buffer, path: string, title: string): Added;
  readonly stories?: StoriesFormat;
}

export interface Added {
  readonly file: Buffer;
  /** Undefined where the file has no place for a task, as in code that is never closed. */
  readonly id: TaskId | undefined;
}

/** Tasks in a file, read and marked where it lies. */
export function createFileSource(place: ListPlace, format: TaskFormat): TaskSource {
  const { path } = place;
  const { stories } = format;
  const identity: SourceIdentity = { kind: format.kind, label: posix.basename(path), path };
  const file = new TaskFile(place);
  const readIn = createMemo(
    (bytes: Buffer) => format.read(bytes, path),
    (a, b) => a.equals(b),
  );
  const mark = async (task: TaskId, isDone: boolean): Promise<void> =>
    file.edit((bytes) => format.mark(bytes, path, task, isDone));
  return {
    identity,
    files: [{ path, isAgents: false }],
    observe: async () => ({ source: identity, tasks: readIn(file.read()).tasks }),
    demands: async () => readIn(file.read()).demands,
    mark: (task) => mark(task, true),
    unmark: (task) => mark(task, false),
    markedIn: (bytes, task, isDone) => format.mark(bytes, path, task, isDone),
    list: guardList(place, {
      compare: (before, after) => compareLists(before, after, (bytes) => format.read(bytes, path)),
      stories,
    }),
    ...(stories && {
      stories: { edit: async (edits) => file.edit((bytes) => stories.edit(bytes, path, edits)) },
    }),
  };
}

function compareLists(
  before: Buffer,
  after: Buffer,
  read: (file: Buffer) => ReturnType<TaskFormat["read"]>,
): readonly ListChange[] {
  const [was, now] = [read(before), read(after)];
  const changes = [...compareTasks(was.tasks, now.tasks)];
  const [checksBefore, checksNow] = [was, now].map(
    ({ demands }) => demands.checks.map((check) => `"${check}"`).join(", ") || "none",
  );
  if (checksBefore !== checksNow)
    changes.push({
      is: "other",
      what: `changed the commands that check the work from ${checksBefore} to ${checksNow}`,
    });
  if (was.demands.branch !== now.demands.branch)
    changes.push({ is: "other", what: `changed the branch to ${now.demands.branch ?? "none"}` });
  if (changes.length > 0 || meaningOf(before) === meaningOf(after)) return changes;
  return [{ is: "other", what: "changed text that is no task" }];
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
    if (last === null || !isSame(last.input, input)) last = { input, output: make(input) };
    return last.output;
  };
}

export function checkedTasks(placed: readonly PlacedTask[], path: string): readonly Task[] {
  const problem = planProblem(placed);
  if (problem !== null) throw new RalphError("bad-tasks", `${path}: ${problem}`);
  return placed.map(({ task }) => task);
}

/** Of a source that only lists tasks. */
export const NO_DEMANDS: SourceDemands = { checks: [], branch: null };

/** What a source says that has no file to mark. */
export const NO_FILE = {
  files: [],
  demands: async () => NO_DEMANDS,
  markedIn: (file: Buffer) => file,
} satisfies Partial<TaskSource>;

/** The next free number in the manner of the ids that are there: `US-004`, `task-012`. */
export function nextId(ids: readonly TaskId[], usual: string): TaskId {
  const numbered = ids.flatMap((id) => {
    const [, prefix, digits] = /^(.*?)(\d{1,9})$/.exec(id) ?? [];
    return prefix === undefined || digits === undefined ? [] : [{ prefix, digits }];
  });
  const [only, ...others] = new Set(numbered.map(({ prefix }) => prefix));
  const prefix = only !== undefined && others.length === 0 ? only : usual;
  const digits = numbered.filter((one) => one.prefix === prefix).map((one) => one.digits);
  const width = digits.length === 0 ? 3 : Math.max(...digits.map((text) => text.length));
  const number = Math.max(0, ...digits.map(Number)) + 1;
  return `${prefix}${String(number).padStart(width, "0")}`;
}

/** The operator's file with the tasks; read anew for every act, since somebody may have edited it meanwhile. */
export class TaskFile {
  readonly #root: string;
  /** Relative to the root. */
  readonly path: string;

  constructor({ root, path }: { readonly root: string; readonly path: string }) {
    this.#root = root;
    this.path = path;
  }

  /** Says what is wrong with its place when it cannot be read. */
  read(): Buffer {
    const real = safePath(this.#root, this.path);
    const file = readOrNull(real);
    if (file !== null) return file;
    const message = existsSync(real) ? `${this.path} is not a file` : `${this.path} does not exist`;
    throw new RalphError("no-tasks", message, { hint: "name the file that has the tasks with --source" });
  }

  /** The file as it is, or null when there is none that may be read. */
  peek(): Buffer | null {
    const real = this.#realPath();
    return real === null ? null : readOrNull(real);
  }

  /** Writes what `change` makes of the file, unless that is null. A file that is gone is left alone. */
  edit(change: (file: Buffer) => Buffer | null): void {
    const real = this.#realPath();
    const file = this.peek();
    if (real === null || file === null) return;
    const changed = change(file);
    if (changed !== null && !changed.equals(file)) writeFileAtomically(real, changed);
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
