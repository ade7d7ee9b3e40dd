import type { ListChange } from "../plan-checks.ts";
import type { StoryFindings } from "../review/check-stories.ts";
import type { PluginAnswers } from "./plugin-answers.ts";

/** What we observed in git after an iteration, whatever the agent said. */
export interface Evidence {
  readonly headBefore: string | null;
  readonly headAfter: string | null;
  /** Between the iteration's start and now; `.ralph/` and the task source left out. */
  readonly changed: ChangeSet;
  /** By all iterations of the task so far, net of what they took back. */
  readonly changedSinceTaskBegan: ChangeSet;
  /** Still uncommitted after we committed what we may. */
  readonly uncommitted: readonly Leftover[];
  /** Uncommitted too, and left there by gates. */
  readonly leftByGates: readonly Leftover[];
  /** Not committed by us on purpose. */
  readonly leftOut: readonly LeftOutFile[];
  /** Set when the agent left the workspace's branch with work that does not continue it. */
  readonly strayedTo: string | null;
  /** A branch or stash that may hold the work of an agent whose change set is empty. */
  readonly elsewhere?: string;
  /** Tasks that the agent itself marked as done; the marks were taken back. */
  readonly marksTakenBack: readonly string[];
  /** Tasks that the agent took out of the list; they are back. */
  readonly tasksRemoved: readonly string[];
  /** All that it did to a task list that is a file; it was undone, and is kept as a proposal. Missing: nothing. */
  readonly list?: readonly ListChange[];
  /** Files that the agent says it wrote, and did not. */
  readonly phantoms: readonly string[];
  /** Protected files that the agent changed; they were put back. */
  readonly putBack: readonly string[];
  /** What kept changes from git's eyes, in words; it was undone. These five are missing in older logs. */
  readonly hidden?: readonly string[];
  /** New files without any visible character: they are no change. */
  readonly blankFiles?: readonly string[];
  /** Of everything since the task began. */
  readonly isWhiteSpaceOnly?: boolean;
  /** New lines that switch a checker off: `src/a.ts: // eslint-disable-line`. */
  readonly suppressions?: readonly string[];
  /** What gates judge by and the task changed: these are set back when the old checks run. */
  readonly checkFiles?: readonly string[];
  /** Of an open-ended task: every item of the plan beside its prompt is ticked. */
  readonly isPlanTicked?: boolean;
  /** What the repository's hooks said when they refused our commit; null when they did not. */
  readonly refusal: string | null;
  /** What was done to the stories of a source with the review cycle; missing where there is none. */
  readonly stories?: StoryFindings;
  /** Missing where no plugin was asked. */
  readonly plugins?: PluginAnswers;
}

export interface ChangeSet {
  readonly files: number;
  /** The first paths, at most `PATHS_KEPT`. */
  readonly paths: readonly string[];
}

export interface LeftOutFile {
  readonly path: string;
  readonly why: "too-big" | "looks-secret";
}

/** Something that lies uncommitted, and what it looked like: touched again, it is news. */
export interface Leftover {
  readonly path: string;
  readonly look: string;
}

/** What lies uncommitted in a workspace and is not the operator's, by who left it. */
export interface Leftovers {
  /** Not committed on purpose, or by an agent that has to commit itself. */
  readonly byAgents: readonly Leftover[];
  readonly byGates: readonly Leftover[];
  /** Gates that ran since the work tree was last looked at: what changed meanwhile is theirs. */
  readonly gatesRan: FileSpan | null;
}

/** By the dates of the file system, in milliseconds. */
export interface FileSpan {
  readonly after: number;
  readonly upTo: number;
}

/**
 * What the task's own iterations changed. Other tasks and people commit in between: the work counts from
 * `base`, where the latest unbroken row of its own iterations began, plus what rows before it had changed.
 */
export interface WorkBase {
  /** Where its very first iteration began. */
  readonly first: string | null;
  readonly base: string | null;
  /** HEAD after the last iteration of the row. */
  readonly head: string | null;
  readonly earlier: ChangeSet;
  /** Everything so far, `earlier` included. */
  readonly changed: ChangeSet;
  /** What agents had left uncommitted before the row began. */
  readonly leftovers: readonly Leftover[];
}

export const NO_LEFTOVERS: Leftovers = { byAgents: [], byGates: [], gatesRan: null };

export const PATHS_KEPT = 200;

export const NOTHING_FOUND = {
  leftByGates: [],
  tasksRemoved: [],
  phantoms: [],
  putBack: [],
  refusal: null,
} as const satisfies Partial<Evidence>;

export const NO_CHANGES: ChangeSet = { files: 0, paths: [] };

/** The one definition of progress for brakes and counters. */
export function madeProgress(evidence: Evidence, turnedGreen: readonly string[]): boolean {
  return evidence.headAfter !== evidence.headBefore || evidence.changed.files > 0 || turnedGreen.length > 0;
}
