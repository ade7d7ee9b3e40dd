import { prepareRun } from "../../app/prepare-run.ts";
import { type Project, hearSignals, requirePerson, workersOf } from "../../app/project.ts";
import { withLog } from "../../app/project-log.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { submitTasks } from "../../app/submit.ts";
import type { SourceFlags } from "../../app/task-lists.ts";
import type { RunFlags } from "../../config/resolve-settings.ts";
import { RalphError } from "../../core/errors.ts";
import { restOf } from "../../core/loop/decide.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import type { Submission } from "../../core/loop/submission.ts";
import { statusOf, tasksInScope } from "../../core/loop/task-status.ts";
import type { State } from "../../core/state.ts";
import { count } from "../../core/views/explain-words.ts";
import { followLog } from "../../engine/follow-log.ts";
import type { Act, CliContext } from "../commands.ts";
import { printerFor, type RunPrinter } from "../print/run-printer.ts";
import { withRunOptions, withSourceOptions } from "../run-options.ts";
import { appendJobSummary } from "./run.ts";

interface Flags extends RunFlags, SourceFlags {
  readonly watch?: boolean;
  /** False: `--no-job-summary`. */
  readonly jobSummary?: boolean;
}

export function define(command: Command, act: Act): void {
  withRunOptions(withSourceOptions(command))
    .option("--watch", "follow the work until nobody can do anything more; its exit code is the run's")
    .option("--json", "what was submitted as JSON; with --watch events as JSON lines")
    .action(act(submitAndWatch));
}

async function submitAndWatch(context: CliContext, goal: string | undefined, flags: Flags): Promise<number> {
  const prepared = await prepareRun(goal, { ...flags, worktree: true }, context);
  const { project, source, why } = prepared;
  requirePerson(project, "submit tasks");
  const { kind, label } = source.identity;
  // What workers have done is marked in a file of the base, which everybody gets.
  if (kind === "plugin")
    throw new RalphError("usage", `the tasks of ${label} cannot be submitted: workers mark tasks in a file`, {
      hint: "work on them here alone, with RALPH_QUEUE_URL= ralph run; or submit a file with tasks",
    });
  if (context.verbose) context.say(why);
  const { submission, state } = await submitTasks(prepared, { ...context, model: flags.model });
  const workers = ((await workersOf(project)) ?? []).filter((worker) => worker.is === "here").length;
  const said = { is: submission.is, run: state.run?.id ?? null, source: label, ...countsOf(state) };
  const asJson = context.json && flags.watch !== true;
  context.print(asJson ? JSON.stringify({ ...said, workers }) : linesOf(said, workers));
  if (flags.watch !== true) return 0;
  const code = await watchRun(project, printerFor(context), context);
  await appendJobSummary(project, flags, context);
  return code;
}

function countsOf(state: State) {
  const { run, plan } = state;
  const tasks = run === null || plan === null ? [] : tasksInScope(run, plan);
  const statuses = tasks.map((task) => statusOf(state, task));
  const countOf = (...wanted: readonly string[]): number =>
    statuses.filter((status) => wanted.includes(status)).length;
  return { tasks: statuses.length, done: countOf("done"), waiting: countOf("blocked", "undecided") };
}

interface Said extends ReturnType<typeof countsOf> {
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
  const rest = waiting === 0 ? "" : `, ${waiting} waiting for a person (ralph inbox)`;
  const lines = [`${source}: ${WHAT[is]} · ${count(tasks, "task")}, ${done} done${rest}`];
  if (done === tasks) return lines;
  const who = workers === 1 ? "1 worker is here" : `${workers} workers are here`;
  return [
    ...lines,
    workers === 0 ? "No worker is here yet. On any machine, in a clone: ralph worker" : `${who}.`,
  ];
}

const LOOK_MS = 1_000;

/** Shows what the workers do until nobody can do anything more; whoever watches stops nothing by leaving. */
async function watchRun(project: Project, printer: RunPrinter, { say }: CliContext): Promise<number> {
  const leaving = hearSignals();
  try {
    return await withLog(project, async (log) => {
      const followed = await followLog(log);
      for (;;) {
        for (const { event, state } of await followed.catchUp()) await printer.follow(event, state);
        const rest = restOf(followed.state, Date.now());
        if (rest !== null) {
          if (followed.state.run?.end == null) say(`nothing can go on: ${rest.reason}`);
          return EXIT_CODES[rest.outcome];
        }
        await sleep(LOOK_MS, undefined, { signal: leaving.signal }).catch(() => {});
        if (leaving.signal.aborted) return EXIT_CODES.stopped;
      }
    });
  } finally {
    printer.rest();
    leaving.release();
  }
}
