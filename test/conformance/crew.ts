import type { Steps } from "../e2e/project.ts";
import type { Signs } from "./signs.ts";

/** A fact as scripts see it. */
export interface Fact {
  readonly position: number;
  readonly at: string;
  readonly type: string;
  readonly task: string | null;
  readonly iteration?: number;
  readonly ordinal?: number;
  readonly worker?: string;
  readonly report?: {
    readonly ending: { readonly is: string };
    readonly usage: { readonly cost_usd: number | null } | null;
  };
  readonly evidence?: { readonly head_after: string | null };
  readonly verdict?: string;
  readonly retry_at?: string | null;
  readonly from?: string | null;
  readonly to?: string;
  readonly why?: string;
  readonly reason?: string;
}

export interface Plan {
  readonly tasks: readonly string[];
  /** What the agent does for each task, one list of steps an iteration. */
  readonly script: Readonly<Record<string, readonly Steps[]>>;
}

/** Whoever works on the tasks of a plan: the lanes of one process, or workers on several machines. */
export interface Crew {
  readonly signs: Signs;
  /** Puts everybody to work. */
  start(): Promise<void>;
  /** `kill -9` of whoever works on the task, and not of its agent. Somebody will go on. */
  kill(task: string): Promise<void>;
  /** Stops whoever works on the task, and not its agent. */
  freeze(task: string): Promise<Frozen>;
  cancel(task: string): Promise<void>;
  /** The database is away for a while, in the middle of the work. */
  loseDatabase(how: "in good order" | "by kill -9"): Promise<void>;
  /** Tells others, too, to work on a task that is worked on. */
  deliverTwice(task: string): Promise<void>;
  /** Whoever works on the task cannot reach the database until the answer is called. Null: no network is between them. */
  readonly cutOff: ((task: string) => Promise<() => void>) | null;
  events(): Promise<readonly Fact[]>;
  /** Where the base is that everything is merged to. */
  git(...args: readonly string[]): string;
  /** Everything that can be done is done, nobody is busy any more; then all leave in good order. */
  finish(): Promise<void>;
  /** After the end: processes, leases, worktrees and branches that are still there, in words. */
  remains(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

export interface Frozen {
  /** Until it is taken for dead, and others have its work. With one process there are no others. */
  missed(): Promise<void>;
  /** It goes on, and has looked around. */
  wake(): Promise<void>;
}
