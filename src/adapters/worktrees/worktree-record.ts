import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskId } from "../../core/plan/task.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import type { RegisteredWorktree } from "./registry.ts";

/** How far the making of a worktree came. It lies in the worktree's own git directory and goes with it. */
export interface WorktreeRecord {
  /** Null for a checkout of one commit. */
  readonly task: TaskId | null;
  /** The files of the commit are there, so somebody may have worked on them. */
  readonly isFilled: boolean;
  /** What was copied in and git does not ignore; null until all is copied. */
  readonly copied: readonly CopiedFile[] | null;
  readonly isSetUp: boolean;
  /** The set-up that runs, or ran when its process died. */
  readonly settingUp: { readonly marker: string; readonly pid: number } | null;
}

export interface CopiedFile {
  readonly path: string;
  /** Another text when the file has been written since. */
  readonly stamp: string;
}

export function newRecord(task: TaskId | null): WorktreeRecord {
  return { task, isFilled: false, copied: null, isSetUp: false, settingUp: null };
}

/** Null when there is none, or not one of ours. */
export function readRecord({ gitDir }: RegisteredWorktree): WorktreeRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(gitDir, FILE), "utf8"));
    return isRecord(value) ? value : null;
  } catch {
    return null; // then all of it is done again, which hurts nobody
  }
}

export function writeRecord({ gitDir }: RegisteredWorktree, record: WorktreeRecord): void {
  writeFileAtomically(join(gitDir, FILE), `${JSON.stringify(record)}\n`, { durable: false });
}

const FILE = "ralph-worktree.json";

/** An agent can write there: what is not as we write it is none of ours. */
function isRecord(value: unknown): value is WorktreeRecord {
  if (!isObject(value)) return false;
  const { task, isFilled, copied, isSetUp, settingUp } = value;
  return (
    (task === null || typeof task === "string") &&
    typeof isFilled === "boolean" &&
    typeof isSetUp === "boolean" &&
    (copied === null || (Array.isArray(copied) && copied.every(isCopiedFile))) &&
    (settingUp === null ||
      (isObject(settingUp) && typeof settingUp["marker"] === "string" && Number.isInteger(settingUp["pid"])))
  );
}

function isCopiedFile(value: unknown): value is CopiedFile {
  return isObject(value) && typeof value["path"] === "string" && typeof value["stamp"] === "string";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
