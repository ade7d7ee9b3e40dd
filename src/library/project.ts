import type { Environment } from "../adapters/plugins/plugin.ts";
import type { HistoryEntry } from "../core/views/iteration-entries.ts";
import type { Status } from "../core/views/status.ts";
import type { ProjectEvent } from "./project-event.ts";

export interface ProjectOptions {
  /** A folder of the repository; the current one without it. */
  readonly cwd?: string;
  readonly env?: Environment;
  /** Another folder than `.ralph`, as `--dir`. */
  readonly dir?: string;
}

/** A repository with what is known about its runs. Reading creates nothing, and loads no plugin. */
export interface Project {
  /** The root of the repository. */
  readonly root: string;
  /** What `ralph status --json` prints. */
  status(): Promise<Status>;
  /** Iterations, oldest first: what `ralph history --json` prints. */
  history(options?: { readonly task?: string }): Promise<readonly HistoryEntry[]>;
  /** The events of the log, oldest first. It goes on with what comes, until whoever reads it stops or the signal is aborted. */
  events(options?: EventOptions): AsyncIterable<ProjectEvent>;
  /** Answers the question of a task. */
  decide(task: string, answer: string): Promise<void>;
  /** Lets a blocked task be worked on again. */
  unblock(task: string, options?: { readonly reason?: string; readonly timeoutMs?: number }): Promise<void>;
  /** Tells the agent of a task, or with null of whichever comes next. */
  steer(task: string | null, text: string): Promise<void>;
  /** Gives up a task for this run, and ends its agent. */
  cancel(task: string): Promise<void>;
  /** Ends the run after the iterations under way, or now, as Ctrl-C. */
  stop(options?: { readonly now?: boolean }): Promise<void>;
}

/** Opens the repository around a folder. What a person may do is done as by command: it is recorded, and a run hears of it. */
export async function openProject(options: ProjectOptions = {}): Promise<Project> {
  // Loaded when it is needed: plugins import this file too.
  const { openedProject } = await import("./opened-project.ts");
  return openedProject(options);
}

export interface EventOptions {
  /** Only those after this position. */
  readonly after?: number;
  /** False: only what is there now. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}
