import type { Command } from "commander";
import type { RunFlags } from "../../config/resolve-settings.ts";
import type { SourceIdentity } from "../../core/plan/task.ts";
import { appendJobSummary, type JobSummaryFlags } from "../append-job-summary.ts";
import type { Act, CliContext } from "../commands.ts";
import { printerFor } from "../print/printer-for.ts";
import { showPlan } from "../dry-run.ts";
import { driveRun, type Drive } from "../drive-run.ts";
import { prepareRun } from "../prepare-run.ts";
import { requirePrograms, requireStartable } from "../require-startable.ts";
import { runWithMonitor } from "../monitor/run-with-monitor.ts";
import { withRunOptions, withSandboxOptions } from "../run-options.ts";
import { sayAgent } from "../say-agent.ts";
import { withSourceOptions, type SourceFlags } from "../source-request.ts";

export interface Flags extends RunFlags, SourceFlags, JobSummaryFlags {
  readonly allowDirty?: boolean;
  /** False: `--no-keep-awake`. */
  readonly keepAwake?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly monitor?: boolean;
}

export function define(command: Command, act: Act): void {
  withSandboxOptions(withRunOptions(withSourceOptions(command)))
    .option("--parallel <n>", "so many tasks at a time, each in a worktree of its own")
    .option("--worktree", "work in worktrees also with one lane")
    .option("--keep-going", "a blocked or undecided task does not stop the run")
    .option("--no-wait", "end where it would wait for a limit (exit code 5) or a deadline (3)")
    .option("--allow-dirty", "start on uncommitted changes, and leave exactly those paths alone")
    .option("--no-keep-awake", "let the machine fall asleep while an agent works")
    .option("--dry-run", "show the plan and the first prompt, start no agent")
    .option("--json", "events as JSON lines on stdout")
    .option("--quiet", "only the summary")
    .option("--monitor", "watch it in the terminal dashboard; its output goes to a file in .ralph/logs")
    .action((goal: string | undefined, flags: Flags) =>
      act((context) =>
        flags.monitor === true ? runWithMonitor(goal, flags, context) : run(goal, flags, context),
      ),
    );
}

/** `first`: what is recorded before the run starts, if it does. */
export async function run(
  goal: string | undefined,
  flags: Flags,
  context: CliContext,
  first?: Drive["first"],
): Promise<number> {
  const prepared = await prepareRun(goal, flags, context);
  const { settings, source, tasks, why, agents } = prepared;
  if (tasks === 0) context.stderr.write(noTasksIn(source.identity));
  if (context.verbose || flags.dryRun === true) context.stderr.write(`ralph: ${why}\n`);
  if (flags.dryRun === true) {
    requirePrograms(prepared, context);
    return showPlan({ settings, source, context, asJson: flags.json === true });
  }
  await requireStartable(prepared, context);
  if (flags.quiet !== true) for (const agent of agents) sayAgent(agent, context, flags.agent);
  const code = await driveRun({
    ...prepared,
    context,
    printer: printerFor(flags, context),
    allowDirty: flags.allowDirty === true,
    keepAwake: flags.keepAwake !== false,
    summary: flags.json !== true,
    suggests: flags.json !== true && flags.quiet !== true,
    ...(first && { first }),
    verbose: context.verbose,
  });
  await appendJobSummary(prepared.project, flags, context);
  return code;
}

/** Nothing to do is done; but who wrote a list did not mean that. */
function noTasksIn({ label }: SourceIdentity): string {
  return `ralph: ${label} has no tasks\n  → how they are written: ralph help tasks\n`;
}
