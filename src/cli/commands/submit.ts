import type { Command } from "commander";
import type { RunFlags } from "../../config/resolve-settings.ts";
import type { SourceIdentity } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { appendJobSummary, type JobSummaryFlags } from "../append-job-summary.ts";
import { printerFor } from "../print/printer-for.ts";
import { prepareRun } from "../prepare-run.ts";
import { withRunOptions } from "../run-options.ts";
import { withSourceOptions, type SourceFlags } from "../source-request.ts";
import { requirePerson } from "../require-person.ts";
import { submitTasks } from "../submit/submit-tasks.ts";
import { watchRun } from "../submit/watch-run.ts";

export interface SubmitFlags extends RunFlags, SourceFlags, JobSummaryFlags {
  readonly watch?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  withRunOptions(withSourceOptions(command))
    .option("--watch", "follow the work until nobody can do anything more; its exit code is the run's")
    .option("--json", "what was submitted as JSON; with --watch events as JSON lines")
    .action((goal: string | undefined, flags: SubmitFlags) => act((context) => submit(goal, flags, context)));
}

async function submit(goal: string | undefined, flags: SubmitFlags, context: CliContext): Promise<number> {
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
