import type { TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { OpenedCheckout } from "../../engine/parallel-ports.ts";
import { holdsOnlyLink } from "./clear-the-way.ts";
import { copyIncluded } from "./copy-included.ts";
import { fillWorktree } from "./fill-worktree.ts";
import type { RegisteredWorktree } from "./registry.ts";
import { runSetup, type SetupOptions } from "./run-setup.ts";
import type { Site } from "./site.ts";
import { newRecord, readRecord, writeRecord, type WorktreeRecord } from "./worktree-record.ts";

export interface ReadyOptions extends SetupOptions {
  /** Globs over untracked and ignored files of the user's checkout. */
  readonly include: readonly string[];
}

/** Files, copies, set-up: each once, and begun again if it did not come to its end. */
export async function makeReady(
  site: Site,
  worktree: RegisteredWorktree,
  task: TaskId | null,
  options: ReadyOptions,
  signal: AbortSignal,
): Promise<OpenedCheckout> {
  const { root } = worktree;
  // One that has files and no record of ours may be full of somebody's work.
  const begun = readRecord(worktree) ?? { ...newRecord(task), isFilled: !holdsOnlyLink(root) };
  writeRecord(worktree, begun);
  await fillWorktree(worktree, begun);
  let record: WorktreeRecord = { ...begun, task, isFilled: true };
  writeRecord(worktree, record);
  try {
    record = { ...record, copied: record.copied ?? (await copyIncluded(site, worktree, options.include)) };
  } catch (error) {
    if (error instanceof RalphError && error.code === "not-writable") {
      return { is: "failed", root, why: options.redact(error.message) };
    }
    throw error;
  }
  writeRecord(worktree, record);
  const why = await runSetup(worktree, record, options, signal);
  if (why !== null) return { is: "failed", root, why };
  return { is: "ready", root, copied: (record.copied ?? []).map(({ path }) => path) };
}
