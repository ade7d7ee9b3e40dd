import type { EffectOf } from "../../core/loop/effects.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

/** Marks an accepted task in the operator's file and commits just that. The fact came first. */
export async function markTask(effect: EffectOf<"mark-task">, ports: Ports, journal: Journal): Promise<void> {
  const { run, plan, tasks } = journal.state;
  const completion = tasks[effect.task]?.completion;
  if (run === null || plan === null || completion == null) return;
  await ports.source.mark(effect.task);
  const about = {
    run: run.id,
    task: effect.task,
    iteration: completion.iteration,
    title: plan.tasks.find((task) => task.id === effect.task)?.title ?? effect.task,
    hooks: run.settings.git.hooks,
  };
  const { path } = ports.source.identity;
  const { head: parent } = await ports.workspace.snapshot();
  const commit = path === null ? null : await ports.workspace.commitMark({ ...about, path });
  await journal.record({ type: "task.marked", run: run.id, task: effect.task, commit, parent });
}
