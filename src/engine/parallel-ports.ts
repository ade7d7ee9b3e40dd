import type { TaskId } from "../core/plan.ts";
import type { CommitRequest, Workspace } from "./ports.ts";

/** Everything that lets tasks be worked on side by side. */
export interface ParallelWork {
  readonly worktrees: Worktrees;
  readonly merging: Merging;
  readonly checkout: OwnCheckout;
  readonly pullRequests: PullRequests;
  /** The workspace in a worktree; the same for the same folder. */
  workspaceAt(root: string): Workspace;
}

/** The user's own, in which no agent has any business while tasks are worked on beside it. */
export interface OwnCheckout {
  /** Looks at it now; the answer tells what is different by then, and was not told before. */
  watch(): Promise<(isOurs: (head: string | null) => boolean) => Promise<CheckoutChange | null>>;
}

export interface CheckoutChange {
  /** Where HEAD is now, if somebody else has moved it. */
  readonly head: string | null;
  /** What is not committed there, and was not so before; and what was, and is no more. */
  readonly paths: readonly string[];
}

/** Checkouts of their own for tasks that are worked on side by side, outside the user's checkout. */
export interface Worktrees {
  /**
   * The task's own checkout, on its own branch: made from the base, or taken up again as it was left, whatever is in
   * it. A set-up that fails, or is stopped by the signal, is told, and the checkout stays for a look; the next call
   * tries it again. Refused when the branch cannot be had: the user has it checked out, or another is in its way.
   */
  open(task: TaskId, base: string, signal?: AbortSignal): Promise<OpenedWorktree>;
  /** A checkout of one commit, set up like a task's, for as long as `use` takes. */
  at<Result>(
    commit: string,
    use: (opened: OpenedCheckout) => Promise<Result>,
    signal?: AbortSignal,
    /** Who only reads needs no set-up. */
    options?: { readonly isSetUp: boolean },
  ): Promise<Result>;
  /** Whether the task has no checkout that git could work in: somebody deleted it, or it was never made. */
  isGone(task: TaskId): Promise<boolean>;
  /** Those of tasks; what `at` made is not among them. */
  list(): Promise<readonly WorktreeEntry[]>;
  /**
   * Removes the task's checkout, not its branch; one that is dirty, or that a person has locked, stays, unless
   * `force`. True: it is gone.
   */
  remove(task: TaskId, options?: { readonly force?: boolean }): Promise<boolean>;
  /**
   * Forgets checkouts whose folder is gone, removes those of `at` that a killed process left, and ends set-ups that
   * outlived theirs.
   */
  clearLeftovers(): Promise<void>;
}

export type OpenedCheckout =
  | {
      readonly is: "ready";
      readonly root: string;
      /** Files of the user's that were copied in and that git does not ignore: no work of the task's, not to be committed. */
      readonly copied: readonly string[];
    }
  /** In words: the end of what the set-up printed. */
  | { readonly is: "failed"; readonly root: string; readonly why: string };

export type OpenedWorktree = OpenedCheckout & { readonly branch: string };

export interface WorktreeEntry {
  readonly task: TaskId;
  readonly root: string;
  /** The task's, whatever is checked out there. */
  readonly branch: string;
  /** What is checked out there; null when it is not known. */
  readonly head: string | null;
  /** Something would be lost with it: changes, untracked files, commits that are on no branch. */
  readonly isDirty: boolean;
}

/**
 * Brings accepted commits to their base. Nobody's checkout, index or branch is touched by preparing it. Everything
 * may be repeated after a crash: it ends as it would have without.
 */
export interface Merging {
  /** The commit that the base would become. Until the base moves nothing but the answer names it. */
  prepare(request: MergeRequest): Promise<PreparedMerge>;
  /** What a branch has by now that is not at the accepted commit any more; null when it still is there. */
  whatMoved(branch: string, commit: string): Promise<MovedBranch | null>;
  /** Moves the base from one commit to another, if it is still there and nobody's uncommitted work is in the way. */
  advance(request: AdvanceRequest): Promise<Advanced>;
  /**
   * Gives a branch another name, whatever had that one before; a branch that is gone is left alone. A later task of the
   * same id begins afresh then, and the work is still there.
   */
  rename(branch: string, name: string): Promise<void>;
  /** Moves a branch to any other commit, if it is still there and nobody's uncommitted work is in the way. */
  set(move: BranchMove): Promise<BranchMoved>;
  /** Whether git still has the commit. */
  has(commit: string): Promise<boolean>;
  /** Keeps a commit on a branch of this name, or of one like it if the name has other work. Null: git refuses. */
  keep(branch: string, commit: string): Promise<string | null>;
  /** Deletes a branch that is still there. What is dropped for good is kept as what is moved is. */
  drop(branch: string, commit: string, backup?: Pick<AdvanceRequest, "run" | "iteration">): Promise<void>;
  /** The commit, on the base as it is now, that takes work back. */
  revert(request: RevertRequest): Promise<PreparedRevert>;
}

export interface BranchMove {
  readonly branch: string;
  /** Null: it has no commit. */
  readonly from: string | null;
  readonly to: string | null;
  /** Paths that stay as they are in the work tree. */
  readonly hold: readonly string[];
}

export type BranchMoved =
  /** By this call, or before. What was held back differs from the branch now. */
  | { readonly is: "moved"; readonly held: readonly string[] }
  | { readonly is: "stays"; readonly why: string; readonly paths: readonly string[] };

export interface MergeRequest extends Omit<CommitRequest, "hooks"> {
  /** Nothing but this commit is merged, wherever the branch is by now. */
  readonly commit: string;
  readonly branch: string;
  readonly base: string;
  /** The files of the result are the same in all three. A rebase whose commits do not apply one by one is a squash. */
  readonly how: "squash" | "merge" | "rebase";
  readonly mark: FileMark | null;
}

/**
 * The task source: the base's version counts, with the mark in it, whatever the branch did to it. Where the base has
 * none, the branch's.
 */
export interface FileMark {
  /** A link is followed within the repository. */
  readonly path: string;
  /** On the file as git stores it, before any conversion for a work tree. */
  readonly apply: (file: Buffer) => Buffer;
}

export type PreparedMerge =
  | { readonly is: "ready"; readonly from: string; readonly to: string }
  | {
      readonly is: "conflict";
      readonly from: string;
      readonly paths: readonly string[];
      /** In words, when it is something else than changes of both sides in the same places. */
      readonly why?: string;
    }
  /** The base has it all already. */
  | { readonly is: "nothing"; readonly from: string }
  /** The commit is nowhere to be had; in words, with what helps. */
  | { readonly is: "gone"; readonly why: string };

export type PreparedRevert = Exclude<PreparedMerge, { readonly is: "gone" }>;

/** A branch that somebody moved after its work was accepted. */
export interface MovedBranch {
  /** Null: it was deleted. */
  readonly tip: string | null;
  /** How many commits it has that the accepted one does not have. */
  readonly commits: number;
  /** Whether they continue the accepted one. */
  readonly isAhead: boolean;
  /** Where they stay, in words. */
  readonly where: string;
  /** The command that puts it back to the accepted one. */
  readonly restore: string;
}

export interface AdvanceRequest {
  readonly base: string;
  readonly from: string;
  readonly to: string;
  /** Part of the name under which the base is kept before it moves: `refs/ralph/backup/RUN/ITERATION`. */
  readonly run: string;
  readonly iteration: number;
}

export type Advanced =
  /** The base has the commit: by this call, or before. */
  | { readonly is: "moved" }
  /** Somebody else moved it, or what was prepared is no more: prepare again. */
  | { readonly is: "elsewhere"; readonly head: string | null }
  /**
   * It is checked out, and something there is in the way: uncommitted changes, files that git does not know, a merge
   * or rebase under way. In words why; the paths may be none.
   */
  | {
      readonly is: "waits";
      /** Null: it is not a checkout that is in the way. */
      readonly root: string | null;
      readonly why: string;
      readonly paths: readonly string[];
    };

export interface RevertRequest extends Omit<CommitRequest, "hooks"> {
  readonly base: string;
  /** For the commit's subject; missing: "undo". */
  readonly what?: string;
  /** What the work made of the base, and from where (null: from nothing); the latest first. */
  readonly spans: readonly { readonly from: string | null; readonly to: string | null }[];
  /** Takes the mark away. Without it the lines of later marks beside it would conflict. */
  readonly mark: FileMark | null;
}

/** Work that people bring to the base. */
export interface PullRequests {
  /** Refuses when none could be opened for this base. */
  requireUsable(base: string): Promise<void>;
  /** Pushes the branch, and opens a pull request unless one is open. */
  propose(work: ProposedWork): Promise<PullRequest>;
}

export interface ProposedWork {
  /** What was accepted: the branch is pushed as it was then. */
  readonly commit: string;
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  /** Lets the operator's hooks run at the push. */
  readonly hooks: boolean;
}

export type PullRequest =
  { readonly is: "proposed"; readonly url: string } | { readonly is: "refused"; readonly why: string };
