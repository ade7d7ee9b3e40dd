import type { EffectOf } from "../../core/loop/effects.ts";
import { taskState } from "../../core/loop/state.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";
import { acceptedWork } from "../accepted-work.ts";

/** Writes into the operator's file what became of a task, and commits just that. The fact came first. */
export async function markTask(effect: EffectOf<"mark-task">, ports: Ports, journal: Journal): Promise<void> {
  const { run, plan } = journal.state;
  if (run === null || plan === null) return;
  const { completion, storyEdits } = taskState(journal.state, effect.task);
  if (completion === null && storyEdits === null) return;
  const task = plan.tasks.find(({ id }) => id === effect.task);
  if (storyEdits === null)
    await ports.source.mark(effect.task, completion === null ? undefined : acceptedWork(run, completion));
  else {
    if (storyEdits.restores) await ports.source.stories?.restore();
    await ports.source.stories?.edit(storyEdits.edits, storyEdits.putBack);
  }
  const about = {
    run: run.id,
    task: effect.task,
    iteration: storyEdits?.iteration ?? completion?.iteration ?? 0,
    title: task?.title ?? effect.task,
    ...(completion === null && { what: `review ${task?.review?.reviewStatus ?? "not begun"}` }),
    hooks: run.settings.git.hooks,
  };
  const { path } = ports.source.identity;
  const mark = path === null ? null : await ports.workspace.commitMark({ ...about, path });
  const parent = mark === null ? (await ports.workspace.snapshot()).head : mark.parent;
  const commit = mark?.commit ?? null;
  await journal.record({ type: "task.marked", run: run.id, task: effect.task, commit, parent });
}
