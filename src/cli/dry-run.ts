import { beginIteration } from "../core/loop/begin-iteration.ts";
import { evolveAll } from "../core/loop/evolve.ts";
import { readyTasks } from "../core/loop/select-tasks.ts";
import type { Recorded } from "../core/events.ts";
import type { Settings } from "../core/settings.ts";
import type { TaskSource } from "../engine/ports.ts";
import type { CliContext } from "./commands.ts";

interface DryRun {
  readonly settings: Settings;
  readonly source: TaskSource;
  readonly context: CliContext;
  readonly asJson: boolean;
}

/** What a run would do first: the plan and the exact first prompt. Nothing is written, no agent starts. */
export async function showPlan({ settings, source, context, asJson }: DryRun): Promise<number> {
  const plan = await source.observe();
  const at = Date.now();
  const state = evolveAll([
    { type: "run.started", run: "dry-run", settings, pid: process.pid, version: "", position: 1, at },
    { type: "tasks.observed", run: "dry-run", plan, position: 2, at },
  ] satisfies Recorded[]);
  const ready = state.run === null ? [] : readyTasks(state, state.run, plan, at);
  const first =
    ready[0] && beginIteration(state, ready[0].id, 1, { head: null, branch: null, notes: "" }, at);
  if (asJson) {
    const tasks = plan.tasks.map(({ id, title, done }) => ({ id, title, done }));
    context.stdout.write(
      `${JSON.stringify({ source: plan.source.label, tasks, prompt: first?.prompt ?? null })}\n`,
    );
    return 0;
  }
  const count = `${plan.tasks.length} ${plan.tasks.length === 1 ? "task" : "tasks"}`;
  context.stdout.write(`${plan.source.label}: ${count}, ${ready.length} ready\n`);
  for (const task of plan.tasks)
    context.stdout.write(`  [${task.done ? "x" : " "}] ${task.id}  ${task.title}\n`);
  if (first) context.stdout.write(`\nThe first prompt (${settings.agent}):\n\n${first.prompt}`);
  return 0;
}
