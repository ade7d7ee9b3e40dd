import type { FileMark } from "../../src/engine/parallel-ports.ts";

/** By name. */
export type Files = Readonly<Record<string, string>>;

/** The branch that the user has checked out, and that work is brought to. */
export const BASE = "main";
export const TODO = "TODO.md";

/** A repository with hands: what a person or an agent may do in it. */
export interface RepositoryHands {
  /** The user's checkout. */
  readonly root: string;
  /**
   * Commits on a branch, made from the base if there is none; the user's checkout has it too if it is on that branch. A
   * file whose text is null is removed. With `merged`, that commit is a second parent. Answers the new commit.
   */
  commit(
    branch: string,
    changes: Readonly<Record<string, string | null>>,
    options?: { readonly merged?: string },
  ): Promise<string>;
  tip(branch: string): Promise<string | null>;
  /** Somebody moves a branch that is not checked out; null deletes it. */
  move(branch: string, commit: string | null): Promise<void>;
  filesOf(commit: string): Promise<Files>;
  /** Into a checkout, uncommitted; null removes the file. */
  put(root: string, name: string, text: string | null): Promise<void>;
  /** What lies in a checkout; null when it is gone. */
  filesIn(root: string): Promise<Files | null>;
  /** The user checks out another branch. */
  switchTo(branch: string): Promise<void>;
  /** All that a look at the work must leave as it is: branches, backups, the user's checkout. */
  everything(): Promise<unknown>;
  dispose(): Promise<void>;
}

export function checklist(...ticked: readonly string[]): string {
  const lines = ["task-001", "task-002"].map((task) => `[${ticked.includes(task) ? "x" : " "}] ${task}\n`);
  return lines.join("");
}

export function marking(task: string, from = " ", to = "x"): FileMark {
  const apply = (file: Buffer): Buffer =>
    Buffer.from(file.toString().replace(`[${from}] ${task}`, `[${to}] ${task}`));
  return { path: TODO, apply };
}

/** Takes the mark away. */
export function unmarking(task: string): FileMark {
  return marking(task, "x", " ");
}
