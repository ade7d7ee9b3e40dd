import { workspaceOf } from "../../app/git-parts.ts";
import type { Project } from "../../app/project.ts";
import { prepareRun } from "../../app/prepare-run.ts";
import { meantId, readState, unknownTask } from "../../app/project-log.ts";
import { readyTasks } from "../../core/loop/task-status.ts";
import type { Command } from "commander";
import { CLOSED_BREAKER } from "../../core/loop/brakes.ts";
import { isOpen, taskState, type State } from "../../core/state.ts";
import type { TaskId } from "../../core/plan.ts";
import type { ShownWork } from "../../core/verdict/reader.ts";
import { beginIteration, shownBase } from "../../core/loop/begin-iteration.ts";
import { RalphError } from "../../core/errors.ts";
import type { Settings } from "../../core/settings.ts";
import { tell, type Act, type CliContext } from "../commands.ts";
import { withRunBegun } from "./run.ts";

export function define(command: Command, act: Act): void {
  command
    .argument("[task]", "its id; without it the task that is next")
    .option("--json", "print JSON")
    .action(act(prompt));
}

/** Prints exactly what the next iteration of a task would be told. */
async function prompt(context: CliContext, wanted: string | undefined): Promise<number> {
  const { project, settings, source, notes } = await prepareRun(undefined, {}, context);
  const known = await readState(project);
  const plan = await source.observe();
  const before = { ...known, breaker: CLOSED_BREAKER, callsExhaustedUntil: null };
  const state = withRunBegun(before, unbraked(settings, known.iterations.length), plan, Date.now());
  const ready = isOpen(state.run) ? readyTasks(state, state.run, plan, Infinity) : [];
  const ids = plan.tasks.map(({ id }) => id);
  const meant = wanted === undefined ? ready[0]?.id : meantId(wanted, ids);
  const task = ready.find(({ id }) => id === meant);
  const work = task === undefined ? null : await workToShow(project, state, task.id);
  const around = { head: null, branch: null, notes: await notes.read(), notesPath: notes.path, work };
  const begun = task && beginIteration(state, task.id, 1, around, Infinity);
  if (meant === null) throw unknownTask(wanted ?? "", ids);
  if (!begun)
    throw nothingToSay(
      meant,
      ready.map(({ id }) => id),
    );
  if (context.json) return tell(context, { task: begun.started.task, prompt: begun.prompt }, () => []);
  context.stdout.write(begun.prompt);
  return 0;
}

async function workToShow(project: Project, state: State, id: TaskId): Promise<ShownWork | null> {
  const base = shownBase(state, id);
  const head = taskState(state, id).workBase?.head ?? null;
  if (base === null || head === null) return null;
  const { text, isCut } = await workspaceOf(project).patch(base, head);
  return { diff: text, isDiffCut: isCut, base, head };
}

/** What would be said if nothing else held the run up. */
function unbraked(settings: Settings, openIterations: number): Settings {
  const limits = { ...settings.limits, maxDurationMs: null };
  return { ...settings, limits, lanes: settings.lanes + openIterations, keepGoing: true };
}

function nothingToSay(wanted: string | undefined, ready: readonly string[]): RalphError {
  if (wanted === undefined)
    return new RalphError("usage", "no task is ready, so there is no prompt", {
      hint: "ralph status says why",
    });
  const what = `the task "${wanted}" is not ready (done, blocked, or waiting for another)`;
  return new RalphError("usage", what, { hint: `ready: ${ready.join(", ") || "none"}` });
}
