import type { WorktreeSettings } from "../../src/core/settings.ts";
import type { Checkout } from "./checkout.ts";
import type { Files } from "./branches.ts";
import { versionOf } from "./work-text.ts";

export function branchOf(task: string): string {
  return `ralph/${task}`;
}

/** A file to which several tasks add a line each. */
export const SHARED = "shared";

/** What is really so where tasks are worked on side by side. */
export class LaneTruth {
  readonly count: number;
  readonly merge: WorktreeSettings["merge"];
  /** By task. */
  readonly worktrees = new Map<string, Checkout>();
  /** Folders that need no set-up any more, and those that a person has locked. */
  readonly setUp = new Set<string>();
  readonly locked = new Set<string>();
  /** Pairs of tasks that are good each and fail together, until somebody has written what joins them. */
  readonly clashes: (readonly [string, string])[] = [];
  /** Tasks that add a line to the shared file. */
  readonly sharing = new Set<string>();
  /** Set-ups that will fail. */
  setupFailures = 0;
  /** What a person has in the user's checkout and has not committed. */
  readonly uncommitted = new Map<string, string>();
  /** Whether there is a place for pull requests. */
  hasHub = true;
  /** Branches for which a pull request is open, with the commit that was pushed. */
  readonly proposed = new Map<string, string | null>();
  /** When a person committed on the base. */
  readonly committedAt: number[] = [];
  /** Whose work has come to the base, in this order. */
  readonly merged: string[] = [];

  constructor(count: number, merge: WorktreeSettings["merge"]) {
    this.count = count;
    this.merge = merge;
  }

  /** Whether we bring nothing to the base: people do, or nobody. */
  get endsOnBranches(): boolean {
    return this.merge === "none" || this.merge === "pr";
  }

  hasClash(files: Files): boolean {
    return this.clashesIn(files).length > 0;
  }

  /** The files that are missing where clashing tasks came together. */
  clashesIn(files: Files): readonly string[] {
    const isBegun = (id: string): boolean => versionOf(files.get(id)) > 0;
    return this.clashes
      .filter(([one, other]) => isBegun(one) && isBegun(other))
      .map(([one, other]) => `${one}+${other}`)
      .filter((joint) => !isBegun(joint));
  }
}

export function linesOf(text: string | undefined): readonly string[] {
  return (text ?? "").split("\n").filter((line) => line !== "");
}

/** All lines of both, each once. */
export function joined(one: string | undefined, other: string | undefined): string {
  return [...new Set([...linesOf(one), ...linesOf(other)])].join("\n");
}
