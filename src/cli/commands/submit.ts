import { followLog } from "../../engine/operator.ts";
import { submit } from "../../engine/submit.ts";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import {
  appendJobSummary,
  withRunOptions,
  withSourceOptions,
  type JobSummaryFlags,
  type SourceFlags,
} from "../run-options.ts";
import type { Act, CliContext } from "../commands.ts";
import { prepareRun, type Prepared } from "../prepare-run.ts";
import { printerFor, type RunPrinter } from "../print/run-printer.ts";
import { withLog } from "../project-state.ts";
import { requirePerson, requireQueue } from "../require-person.ts";
import { makeTables, planFor, sharedBaseOf } from "../../compose-submit.ts";
import { workersOf, type Project } from "../../compose.ts";
import type { RunFlags } from "../../config/resolve-settings.ts";
import { restOf } from "../../core/loop/decide.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import type { State } from "../../core/loop/state.ts";
import type { Submission } from "../../core/loop/submission.ts";
import { statusOf, tasksInScope } from "../../core/loop/task-status.ts";
import type { SourceIdentity } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Settings } from "../../core/settings.ts";

export interface SubmitFlags extends RunFlags, SourceFlags, JobSummaryFlags {
  readonly watch?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  withRunOptions(withSourceOptions(command))
    .option("--watch", "follow the work until nobody can do anything more; its exit code is the run's")
    .option("--json", "what was submitted as JSON; with --watch events as JSON lines")
    .action((goal: string | undefined, flags: SubmitFlags) =>
      act((context) => submitAndWatch(goal, flags, context)),
    );
}

async function submitAndWatch(
  goal: string | undefined,
  flags: SubmitFlags,
  context: CliContext,
): Promise<number> {
  const prepared = await prepareRun(goal, { ...flags, worktree: true }, context);
  requirePerson(prepared.project, context.env, "submit tasks");
  requireFile(prepared.source.identity);
  if (context.verbose) context.stderr.write(`ralph: ${prepared.why}\n`);
  await submitTasks(
    prepared,
    { model: flags.model, asJson: flags.json === true && flags.watch !== true },
    context,
  );
  if (flags.watch !== true) return 0;
  const code = await watchRun(prepared.project, printerFor(flags, context), context);
  await appendJobSummary(prepared.project, flags, context);
  return code;
}

/** What workers have done is marked in a file of the base, which everybody gets. */
function requireFile({ kind, label }: SourceIdentity): void {
  if (kind !== "plugin") return;
  throw new RalphError("usage", `the tasks of ${label} cannot be submitted: workers mark tasks in a file`, {
    hint: "work on them here alone, with RALPH_QUEUE_URL= ralph run; or submit a file with tasks",
  });
}

/** More than there will ever be machines for; each worker has its own number. */
const SHARED_LANES = 1_000;

/** Puts the source's tasks into the shared queue, and says what became of them. */
async function submitTasks(
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

const LOOK_MS = 1_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Shows what the workers do until nobody can do anything more; whoever watches stops nothing by leaving. */
async function watchRun(project: Project, printer: RunPrinter, { stderr }: CliContext): Promise<number> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  for (const signal of SIGNALS) process.on(signal, leave);
  try {
    return await withLog(project, async (log) => {
      const followed = await followLog(log);
      for (;;) {
        for (const { event, state } of await followed.catchUp()) await printer.follow(event, state);
        const rest = restOf(followed.state, Date.now());
        if (rest !== null) {
          if (followed.state.run?.end == null) stderr.write(`ralph: nobody can go on: ${rest.reason}\n`);
          return EXIT_CODES[rest.outcome];
        }
        await sleep(LOOK_MS, undefined, { signal: leaving.signal }).catch(() => {});
        if (leaving.signal.aborted) return EXIT_CODES.stopped;
      }
    });
  } finally {
    printer.rest();
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}
