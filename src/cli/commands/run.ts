import { blockedIds } from "../../core/projections/inbox.ts";
import { readyTasks } from "../../core/loop/task-status.ts";
import { join } from "node:path";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { whoGoesOn } from "./blocked.ts";
import { runWithMonitor } from "./monitor.ts";
import { driveRun, type Drive } from "../drive-run.ts";
import { prepareRun, requirePrograms, requireStartable, type Prepared } from "../prepare-run.ts";
import { printerFor } from "../print/run-printer.ts";
import { readState, withLog } from "../project-state.ts";
import { sayAgent } from "../warn-to.ts";
import { requirePerson } from "../require-person.ts";
import {
  appendJobSummary,
  collect,
  withRunOptions,
  withSandboxOptions,
  withSourceOptions,
  type JobSummaryFlags,
  type SourceFlags,
} from "../run-options.ts";
import { openProject, type Project } from "../../compose.ts";
import type { RunFlags } from "../../config/resolve-settings.ts";
import type { Event, Recorded } from "../../core/events.ts";
import { beginIteration } from "../../core/loop/begin-iteration.ts";
import { evolveAll } from "../../core/loop/evolve.ts";
import type { State } from "../../core/loop/state.ts";
import type { SourceIdentity } from "../../core/plan/task.ts";

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
    .option("--keep-going", "a blocked, undecided or stuck task does not stop the run (the default)")
    .option("--no-keep-going", "stop at the first task that needs a person or is stuck")
    .option("--stay", "wait for a person instead of ending, and go on with the answer")
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
  const { source, tasks, why, agents } = prepared;
  if (tasks === 0) context.stderr.write(noTasksIn(source.identity));
  if (context.verbose || flags.dryRun === true) context.stderr.write(`ralph: ${why}\n`);
  if (flags.dryRun === true) {
    await requirePrograms(prepared, context);
    return showPlan(prepared, context, flags.json === true);
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

/** What a run would do first: the plan and the exact first prompt. Nothing is written, no agent starts. */
async function showPlan(
  { settings, source, notes }: Prepared,
  context: CliContext,
  asJson: boolean,
): Promise<number> {
  const plan = await source.observe();
  const at = Date.now();
  const state = evolveAll([
    { type: "run.started", run: "dry-run", settings, pid: process.pid, version: "", position: 1, at },
    { type: "tasks.observed", run: "dry-run", plan, position: 2, at },
  ] satisfies Recorded[]);
  const ready = state.run === null ? [] : readyTasks(state, state.run, plan, at);
  const around = { head: null, branch: null, notes: await notes.read(), notesPath: notes.path };
  const first = ready[0] && beginIteration(state, ready[0].id, 1, around, at);
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

export function defineRetryBlocked(command: Command, act: Act): void {
  withSandboxOptions(withSourceOptions(command))
    .option("--max-attempts <n>", "failed iterations in a row, then a task is blocked again")
    .option("--check <command>", "a gate that must pass (repeatable)", collect)
    .option("-n, --max-iterations <n>", "iterations of the whole run")
    .option("--timeout <duration>", "of each iteration, e.g. 90s, 45m, 2h")
    .option("--agent <name>", "who works")
    .option("--model <name>", "which model the agent uses")
    .option("--keep-going", "a task that is blocked again does not stop the run (always so)")
    .option("--no-wait", "end where it would wait for a limit (exit code 5) or a deadline (3)")
    .option("--allow-dirty", "start on uncommitted changes, and leave exactly those paths alone")
    .option("--no-keep-awake", "let the machine fall asleep while agents work")
    .option("--json", "events as JSON lines on stdout")
    .option("--quiet", "only the summary")
    .action((flags: Flags) => act((context) => retryBlocked(flags, context)));
}

async function retryBlocked(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "unblock tasks");
  const state = await readState(project);
  const blocked = blockedInPlan(state);
  if (blocked.length === 0) {
    context.stderr.write("ralph: no task is blocked, so there is nothing to try again\n");
    return 0;
  }
  if (project.queue !== null) return leaveToWorkers(project, state, blocked, context);
  const { goal, ...source } = sourceOfLastRun(state, flags, project.root);
  // Each gets its chance, whatever becomes of the others.
  const own = { ...flags, ...source, task: blocked, keepGoing: true };
  return run(goal, own, context, (now) => unblocked(now, blocked));
}

/** A run of these tasks alone, which prints nothing; in worktrees, so that an unclean checkout is no hindrance. */
export async function runJust(tasks: readonly string[], state: State, context: CliContext): Promise<void> {
  const { root } = await openProject(context);
  const { goal, ...source } = sourceOfLastRun(state, {}, root);
  const flags: Flags = { ...source, task: tasks, worktree: true, keepGoing: true };
  const prepared = await prepareRun(goal, flags, context);
  await requireStartable(prepared, context);
  await driveRun({
    ...prepared,
    context,
    printer: printerFor({ quiet: true }, context),
    allowDirty: false,
    keepAwake: false,
    summary: false,
    suggests: false,
    verbose: false,
  });
}

async function leaveToWorkers(
  project: Project,
  state: State,
  blocked: readonly string[],
  { stderr }: CliContext,
): Promise<number> {
  await withLog(project, (log) => log.append(unblocked(state, blocked)));
  for (const id of blocked) stderr.write(`ralph: ${id} is no longer blocked\n`);
  const after = await readState(project);
  const next = new Set(await Promise.all(blocked.map((id) => whoGoesOn(project, after, id))));
  for (const step of next) stderr.write(`  → ${step}\n`);
  return 0;
}

/** A task that is not in the list any more cannot be worked on. */
function blockedInPlan(state: State): readonly string[] {
  const planned = new Set((state.plan?.tasks ?? []).map(({ id }) => id));
  return blockedIds(state).filter((id) => planned.has(id));
}

/** Where these tasks came from, unless the command line says otherwise. */
function sourceOfLastRun(
  { run: last, plan }: State,
  { source, roadmap, prompt }: SourceFlags,
  root: string,
): SourceFlags & { readonly goal?: string } {
  if (last === null || [source, roadmap, prompt].some((given) => given !== undefined)) return {};
  const { kind, path, label } = last.settings.source;
  if (kind === "github") return { source: label };
  if (path === null) return { goal: plan?.tasks[0]?.description ?? "" };
  const file = join(root, path);
  return kind === "roadmap" ? { roadmap: file } : kind === "prompt" ? { prompt: file } : { source: file };
}

function unblocked(state: State, tasks: readonly string[]): readonly Event[] {
  return tasks
    .filter((id) => state.tasks[id]?.blockedReason != null)
    .map((task) => ({
      type: "task.unblocked",
      task,
      reason: "retry-blocked",
      timeoutMs: null,
      by: "person",
    }));
}
