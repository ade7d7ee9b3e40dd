/** The smallest thing that can be completed, as a task source describes it. */
export interface Task {
  readonly id: TaskId;
  readonly title: string;
  readonly description: string;
  /** Statements that must be true when the task is complete. */
  readonly criteria: readonly string[];
  readonly dependsOn: readonly TaskId[];
  /** Lower goes first; tasks without one go last. */
  readonly priority: number | null;
  readonly agent: string | null;
  readonly timeoutMs: number | null;
  readonly maxIterations: number | null;
  readonly promise: string | null;
  /** The source's own mark. */
  readonly done: boolean;
  /** Under a heading such as "Optional": worked on, but does not hold up completion. */
  readonly optional: boolean;
}

export type TaskId = string;

/** A task of which a source says no more than it must. */
export function plainTask(said: Pick<Task, "id" | "title"> & Partial<Task>): Task {
  return {
    description: "",
    criteria: [],
    dependsOn: [],
    priority: null,
    agent: null,
    timeoutMs: null,
    maxIterations: null,
    promise: null,
    done: false,
    optional: false,
    ...said,
  };
}

/** Where the tasks come from; `path` is null for a source that has no file to mark. */
export interface SourceIdentity {
  readonly kind: "goal" | "checklist";
  /** What a person recognises it by: the file's name, or the goal's words. */
  readonly label: string;
  /** Relative to the root of the workspace. */
  readonly path: string | null;
}

export interface Plan {
  readonly source: SourceIdentity;
  readonly tasks: readonly Task[];
}

export function sameSource(a: SourceIdentity, b: SourceIdentity): boolean {
  return a.kind === b.kind && a.path === b.path && (a.path !== null || a.label === b.label);
}
