import { randomUUID } from "node:crypto";
import { workersOf } from "../../compose.ts";
import { makeTables, planFor, sharedBaseOf } from "../../compose-submit.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { tasksInScope } from "../../core/loop/select-tasks.ts";
import type { State } from "../../core/loop/state.ts";
import type { Submission } from "../../core/loop/submission.ts";
import type { SourceIdentity } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Settings } from "../../core/settings.ts";
import { submit } from "../../engine/submit.ts";
import type { CliContext } from "../commands.ts";
import type { Prepared } from "../prepare-run.ts";
import { withLog } from "../project-state.ts";
import { requireQueue } from "../require-queue.ts";

/** More than there will ever be machines for; each worker has its own number. */
const SHARED_LANES = 1_000;

/** Puts the source's tasks into the shared queue, and says what became of them. */
export async function submitTasks(
  prepared: Prepared,
  { model, asJson }: { readonly model: string | undefined; readonly asJson: boolean },
  context: CliContext,
): Promise<void> {
  const { project, source, commands } = prepared;
  await makeTables(requireQueue(project, "submit"));
  const plan = await planFor(project, source, context.env, commands);
  const { base, head, notice } = await sharedBaseOf(project, context.env);
  if (notice !== null) context.stderr.write(`ralph: ${notice}\n`);
  const submitted = {
    run: randomUUID(),
    settings: { ...sharedSettings(prepared.settings, base), ...(model !== undefined && { model }) },
    plan,
    pid: process.pid,
    version: context.version,
    head,
  };
  const { submission, state } = await withLog(project, (log) => submit(log, submitted, Date.now), commands);
  if (submission.is === "refused") throw refused(submission.run.settings.source, source.identity);
  const workers = (await workersOf(project)) ?? [];
  const here = workers.filter(({ is }) => is === "here").length;
  const said = {
    is: submission.is,
    run: state.run?.id ?? null,
    source: source.identity.label,
    ...countsOf(state),
  };
  if (asJson) context.stdout.write(`${JSON.stringify({ ...said, workers: here })}\n`);
  else for (const line of linesOf(said, here)) context.stdout.write(`${line}\n`);
}

function sharedSettings(settings: Settings, base: string): Settings {
  const merge = settings.worktrees?.merge ?? "squash";
  // What agents run in is each worker's own business.
  const { sandbox: _, ...rest } = settings;
  return { ...rest, shared: true, lanes: SHARED_LANES, keepGoing: true, worktrees: { base, merge } };
}

interface Counts {
  readonly tasks: number;
  readonly done: number;
  readonly waiting: number;
}

function countsOf(state: State): Counts {
  const { run, plan } = state;
  if (run === null || plan === null) return { tasks: 0, done: 0, waiting: 0 };
  const statuses = tasksInScope(run, plan).map((task) => statusOf(state, task));
  const count = (...wanted: readonly string[]): number =>
    statuses.filter((status) => wanted.includes(status)).length;
  return { tasks: statuses.length, done: count("done"), waiting: count("blocked", "undecided") };
}

interface Said extends Counts {
  readonly is: Submission["is"];
  readonly source: string;
}

const WHAT: Readonly<Record<Submission["is"], string>> = {
  begun: "submitted",
  added: "submitted to the run that is under way, which keeps its settings",
  known: "nothing new",
  refused: "refused",
};

function linesOf({ is, source, tasks, done, waiting }: Said, workers: number): readonly string[] {
  const what = tasks === 1 ? "1 task" : `${tasks} tasks`;
  const rest = waiting === 0 ? "" : `, ${waiting} waiting for a person (ralph inbox)`;
  const lines = [`${source}: ${WHAT[is]} · ${what}, ${done} done${rest}`];
  if (done === tasks) return lines;
  const who = workers === 1 ? "1 worker is here" : `${workers} workers are here`;
  return [
    ...lines,
    workers === 0 ? "No worker is here yet. On any machine, in a clone: ralph worker" : `${who}.`,
  ];
}

function refused(busyWith: SourceIdentity, { label }: SourceIdentity): RalphError {
  return new RalphError("usage", `the workers are busy with ${busyWith.label}, so ${label} has to wait`, {
    hint: "see how far they are: ralph status; or end that first: ralph stop",
  });
}
