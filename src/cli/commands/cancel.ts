import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { isDriven, openProject, type Project } from "../../compose.ts";
import type { Event } from "../../core/events.ts";
import { isOpen, type RunState } from "../../core/loop/state.ts";
import { activeLoops, type Loop } from "../../core/projections/loops.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { latestState } from "../../engine/operator.ts";
import type { Act, CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";
import { nobody } from "../nobody.ts";
import { requirePerson } from "../require-person.ts";

export function define(command: Command, act: Act): void {
  command
    .argument("[task]", "whose loop")
    .option("--all", "every loop, and the run with them")
    .action((task: string | undefined, flags: { all?: boolean }) =>
      act((context) => cancel(task, flags.all === true, context)),
    );
}

async function cancel(task: string | undefined, all: boolean, context: CliContext): Promise<number> {
  if ((task !== undefined) === all)
    throw new RalphError("usage", "whose loop?", { hint: "ralph cancel TASK, or ralph cancel --all" });
  const project = await openProject(context);
  requirePerson(project, context.env, "cancel a task");
  const state = await readState(project);
  const { run } = state;
  if (!isOpen(run) || !(await isDriven(project))) {
    context.stderr.write(`ralph: nothing to cancel, ${nobody(project)}\n`);
    return 0;
  }
  const loops = activeLoops(state).filter((loop) => all || loop.task === task);
  if (task !== undefined && loops.length === 0)
    throw new RalphError("usage", `the task "${task}" has no loop under way`, {
      hint: "what is under way: ralph ralph-status",
    });
  await withLog(project, (log) => log.append(eventsFor(run, loops, all)));
  if (!(await areGone(project, loops))) {
    context.stderr.write("ralph: asked for, but the run does not react; to end it all: ralph stop --now\n");
    return 1;
  }
  for (const { task: id, iteration, maxIterations } of loops)
    context.stdout.write(`Cancelled Ralph loop for ${id} at iteration ${iteration}/${maxIterations}\n`);
  return 0;
}

function eventsFor({ id: run }: RunState, loops: readonly Loop[], all: boolean): readonly Event[] {
  const cancelled = loops.map(({ task }): Event => ({ type: "task.cancelled", run, task }));
  return all ? [...cancelled, { type: "stop.requested", run, urgency: "after-iteration" }] : cancelled;
}

/** Its agent has two seconds, and then no choice. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 50;

async function areGone(project: Project, loops: readonly Loop[]): Promise<boolean> {
  const ids = new Set(loops.map(({ task }) => task));
  // A worker that has just died is waited for as others wait for it.
  const end = Date.now() + PATIENCE_MS + (project.queue?.leaseMs ?? 0);
  return withLog(project, async (log) => {
    for (; Date.now() < end; await sleep(LOOK_MS)) {
      const { iterations } = await latestState(log);
      if (!iterations.some((open) => ids.has(open.task) && open.phase.is === "running")) return true;
    }
    return false;
  });
}
