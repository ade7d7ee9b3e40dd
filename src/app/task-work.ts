import { RalphError } from "../core/errors.ts";
import { taskState, type State } from "../core/state.ts";
import { asArgument } from "../core/text.ts";
import { knownMerging } from "./git-parts.ts";
import type { Project } from "./project.ts";
import { lastUndoableOf } from "./take-back.ts";
import type { TaskWork } from "./watch-project.ts";

/** Null where nothing was done for it yet. */
export async function taskWork(project: Project, state: State, task: string): Promise<TaskWork | null> {
  const { work, workBase, worktree, completion, question } = taskState(state, task);
  if (work !== null && "aside" in work && work.is !== "returning") {
    if (!(await knownMerging(project).has(work.head)))
      throw new RalphError("git-failed", `git no longer has the work of ${task}, ${work.head}`, {
        hint: `have it begin anew: ralph discard ${asArgument(task)}`,
      });
    const ranges = [{ from: work.base, to: work.head }];
    const stands = question?.acceptance?.isApproval === true ? "waits for your approval" : "not accepted";
    return { is: "aside", where: `${stands}, on the branch ${work.aside}`, root: project.root, ranges };
  }
  const accepted = await lastUndoableOf(project, task);
  if (completion !== null && accepted !== null) {
    const where = `accepted${accepted.base === null ? "" : `, on ${accepted.base}`}`;
    return { is: "accepted", where, root: project.root, ranges: accepted.spans.toReversed() };
  }
  if (workBase === null) return null;
  const root = worktree?.root ?? project.root;
  const where = completion === null ? "under way" : "accepted, on its way to the base";
  return { is: "under way", where, root, ranges: [{ from: workBase.base, to: null }] };
}
