import type { About, AboutIteration, RunId } from "./event-shape.ts";
import type { TaskId } from "./plan/task.ts";
import type { CheckedGate, GateOutcome } from "./report/checked-gate.ts";
import type { WorktreeSettings } from "./settings.ts";

/** Of tasks that are worked on side by side. */
export type WorktreeEvent =
  | (About<"worktree.opened"> & {
      readonly run: RunId;
      readonly task: TaskId;
      readonly root: string;
      readonly branch: string;
      /** Where its work goes, and how, whatever a later run is told. */
      readonly base: string;
      readonly merge: WorktreeSettings["merge"];
      /** Files of the user's that were copied in: no work of the task's. */
      readonly copied: readonly string[];
    })
  /** Its set-up failed, so nobody can work in it. */
  | (About<"worktree.failed"> & { readonly run: RunId; readonly task: TaskId; readonly why: string })
  | (About<"worktree.removed"> & { readonly run: RunId; readonly task: TaskId })
  /** What the base will be: gates passed on it. The base moves after this is recorded. */
  | (AboutIteration<"merge.prepared"> & {
      readonly from: string;
      readonly to: string;
      /** These two are missing in older logs. */
      readonly gates?: readonly GateOutcome[];
      /** False: git does not know the task source, so the mark is no part of the commit. */
      readonly isMarked?: boolean;
    })
  /** Somebody else has moved the base meanwhile. */
  | (AboutIteration<"merge.overtaken"> & { readonly head: string | null })
  /** It does not go together with what the base has by now. */
  | (AboutIteration<"merge.failed"> & {
      readonly base: string;
      readonly conflicts: readonly string[];
      readonly gates: readonly CheckedGate[];
    })
  /** A person has to clear the way first; the next run tries again. */
  | (AboutIteration<"merge.held"> & { readonly why: string })
  /** People bring it to the base. */
  | (AboutIteration<"task.proposed"> & { readonly url: string })
  | (AboutIteration<"task.merged"> & { readonly from: string; readonly to: string });
