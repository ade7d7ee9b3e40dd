import type { EffectOf } from "../../core/loop/effects.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { mergeChanges, NO_CHANGES } from "../../core/report/evidence.ts";
import type { Journal } from "../journal.ts";
import { openIteration } from "../open-iteration.ts";
import type { Ports } from "../ports.ts";

/** Looks at what really changed. Marks that the agent made in the task source are taken back first. */
export async function collectEvidence(
  effect: EffectOf<"collect-evidence">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { state } = journal;
  const open = openIteration(state, effect.iteration);
  const { footing } = taskState(state, open.task);
  const marksTakenBack = await ports.source.takeBackMarks(doneTasks(state));
  const evidence = await ports.workspace.collect({
    run: open.run,
    task: open.task,
    iteration: open.number,
    title: titleOf(state, open.task),
    hooks: state.run?.settings.git.hooks ?? false,
    from: { head: open.head, branch: open.branch },
    taskBase: footing?.base ?? null,
    commit: state.run?.settings.git.commit ?? "ralph",
    ignore: state.plan?.source.path == null ? [] : [state.plan.source.path],
    leaveAlone: state.run?.settings.leaveAlone ?? [],
    gateLeftovers: state.leftovers.byGates,
  });
  await journal.record({
    type: "evidence.collected",
    run: open.run,
    task: open.task,
    iteration: open.number,
    evidence: {
      ...evidence,
      changedSinceTaskBegan: mergeChanges(footing?.earlier ?? NO_CHANGES, evidence.changedSinceTaskBegan),
      marksTakenBack,
    },
  });
}

function doneTasks(state: State): ReadonlySet<string> {
  const tasks = state.plan?.tasks ?? [];
  return new Set(tasks.filter((task) => statusOf(state, task) === "done").map((task) => task.id));
}

function titleOf(state: State, id: string): string {
  return state.plan?.tasks.find((task) => task.id === id)?.title ?? id;
}
