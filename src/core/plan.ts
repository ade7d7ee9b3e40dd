import type { StoryReview } from "./review/story-review.ts";

/** The smallest thing that can be completed, as a task source describes it. */
export interface Task {
  readonly id: TaskId;
  readonly title: string;
  /** The heading it stands under, where the source has phases. */
  readonly phase: string | null;
  readonly description: string;
  /** Statements that must be true when the task is complete. */
  readonly criteria: readonly string[];
  /** What success looks like, in one sentence. */
  readonly success: string | null;
  readonly dependsOn: readonly TaskId[];
  /** Lower goes first; tasks without one go last. */
  readonly priority: number | null;
  readonly agent: string | null;
  /** What a machine must have to work on it, where several share the tasks. */
  readonly labels?: readonly string[];
  readonly timeoutMs: number | null;
  readonly maxIterations: number | null;
  readonly promise: string | null;
  /** False: one iteration, accepted without a promise if it ended well and the evidence is there. */
  readonly loops: boolean;
  /** It needs no change of files; missing: it does. */
  readonly changes?: "none";
  /** Whether a person approves its accepted work; missing: as the run has it. */
  readonly approve?: "person" | "auto";
  /** The source's own mark. */
  readonly done: boolean;
  /** Under a heading such as "Optional": worked on only when asked for, and never holds up completion. */
  readonly optional: boolean;
  /** Where it stands in the review cycle of its source; missing where the source has none. */
  readonly review?: StoryReview;
}

export type TaskId = string;

/** A task of which a source says no more than it must. */
export function plainTask(said: Pick<Task, "id" | "title"> & Partial<Task>): Task {
  return {
    phase: null,
    description: "",
    criteria: [],
    success: null,
    dependsOn: [],
    priority: null,
    agent: null,
    timeoutMs: null,
    maxIterations: null,
    promise: null,
    loops: true,
    done: false,
    optional: false,
    ...said,
  };
}

/** Where the tasks come from; `path` is null for a source that has no file to mark. */
export interface SourceIdentity {
  readonly kind: SourceKind;
  /** What a person recognises it by: the file's name, or the goal's words. */
  readonly label: string;
  /** Relative to the root of the workspace. */
  readonly path: string | null;
}

export type SourceKind = "goal" | "checklist" | "roadmap" | "tasks-json" | "prompt" | "github" | "plugin";

export interface Plan {
  readonly source: SourceIdentity;
  readonly tasks: readonly Task[];
}

/** Whether the source itself shows what is done; without that, a new run does everything again. */
export function showsMarks({ kind, path }: SourceIdentity): boolean {
  return path !== null || kind === "github";
}

export function sameSource(a: SourceIdentity, b: SourceIdentity): boolean {
  return a.kind === b.kind && a.path === b.path && (a.path !== null || a.label === b.label);
}
