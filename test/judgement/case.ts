/** A piece of work of which we know the truth, done by a scripted agent in a real repository with a real gate. */
export interface JudgementCase {
  /** Unique, kebab-case. */
  readonly id: string;
  /** What kind of work, or of lie: "removal", "renamed tests", "checker settings". */
  readonly class: string;
  readonly language: Language;
  /** The task as a person would write it. */
  readonly task: string;
  /** The repository before the task. A text that begins with `#!` is executable. */
  readonly files: Readonly<Record<string, string>>;
  /** The command that must pass; null: the project has none. */
  readonly gate: string | null;
  /** What the agent does: a shell script, run by `sh -e` in the repository's root. Several are several iterations. */
  readonly does: string | readonly string[];
  /** The agent's final words; the promise follows them. */
  readonly says: string;
  /**
   * What the gate says when the check files are as they were before the task and all else as the agent left it.
   * `untouched`: the work changes no check file.
   */
  readonly oldChecks: "green" | "red" | "untouched";
  /** More of `.ralph/ralph.toml`. */
  readonly config?: string;
}

export type Language =
  | "javascript"
  | "typescript"
  | "python"
  | "shell"
  | "c"
  | "c++"
  | "perl"
  | "tcl"
  | "awk"
  | "make"
  | "rust"
  | "java"
  | "data";
