import type { EffectOf } from "../../core/loop/effects.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

/** Writes into the operator's file what became of a task, and commits just that. The fact came first. */
export async function markTask(effect: EffectOf<"mark-task">, ports: Ports, journal: Journal): Promise<void> {
  const { run, plan, tasks } = journal.state;
  const known = tasks[effect.task];
  if (run === null || plan === null || known === undefined) return;
  const { completion, storyEdits } = known;
  const task = plan.tasks.find(({ id }) => id === effect.task);
  if (storyEdits === null) await ports.source.mark(effect.task);
  else await ports.source.stories?.edit(storyEdits.edits, []);
  const about = {
    run: run.id,
    task: effect.task,
    iteration: storyEdits?.iteration ?? completion?.iteration ?? 0,
    title: task?.title ?? effect.task,
    ...(completion === null && { what: `review ${task?.review?.reviewStatus ?? "not begun"}` }),
    hooks: run.settings.git.hooks,
  };
  const { path } = ports.source.identity;
  const { head: parent } = await ports.workspace.snapshot();
  const commit = path === null ? null : await ports.workspace.commitMark({ ...about, path });
  await journal.record({ type: "task.marked", run: run.id, task: effect.task, commit, parent });
}
