import type { EffectOf } from "../../core/loop/effects.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

/** Marks an accepted task in the operator's file and commits just that. The fact came first. */
export async function markTask(effect: EffectOf<"mark-task">, ports: Ports, journal: Journal): Promise<void> {
  const { run, plan, tasks } = journal.state;
  const completion = tasks[effect.task]?.completion;
  if (run === null || completion == null || plan?.source.path == null) return;
  await ports.source.mark(effect.task);
  const title = plan.tasks.find((task) => task.id === effect.task)?.title ?? effect.task;
  const commit = await ports.workspace.commitMark({
    run: run.id,
    task: effect.task,
    iteration: completion.iteration,
    title,
    hooks: run.settings.git.hooks,
    path: plan.source.path,
  });
  await journal.record({ type: "task.marked", run: run.id, task: effect.task, commit });
}
