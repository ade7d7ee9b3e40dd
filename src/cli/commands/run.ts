import { type Drive, driveRun } from "../../app/drive-run.ts";
import {
  planOf,
  type Prepared,
  prepareRun,
  requirePrograms,
  requireStartable,
  sayAgent,
} from "../../app/prepare-run.ts";
import { isDriven, type Project, openProject, requirePerson } from "../../app/project.ts";
import { blockedNow, meantTask, readState, withLog } from "../../app/project-log.ts";
import { appendFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Command } from "commander";
import type { SourceFlags } from "../../app/task-lists.ts";
import type { RunFlags } from "../../config/resolve-settings.ts";
import type { Event, Recorded } from "../../core/events.ts";
import { beginIteration } from "../../core/loop/begin-iteration.ts";
import { evolveAll } from "../../core/loop/evolve.ts";
import { timeoutFor } from "../../core/loop/iteration-timeout.ts";
import { RalphError } from "../../core/errors.ts";
import { planAct } from "../../core/loop/operator-act.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { readyTasks, whyBlocked } from "../../core/loop/task-status.ts";
import type { Plan } from "../../core/plan.ts";
import type { Settings } from "../../core/settings.ts";
import { EMPTY_STATE, taskState, type State } from "../../core/state.ts";
import { mustAct } from "../../app/operator.ts";
import { asArgument } from "../../core/text.ts";
import { formatDuration, type Instant } from "../../core/time.ts";
import { count } from "../../core/views/explain-words.ts";
import { blockedIds } from "../../core/views/inbox.ts";
import { runSummary } from "../../core/views/run-lines.ts";
import { tell, tellActed, type Act, type CliContext } from "../commands.ts";
import { printerFor } from "../print/run-printer.ts";
import {
  collect,
  duration,
  wholeNumber,
  withRunOptions,
  withSandboxOptions,
  withSourceOptions,
} from "../run-options.ts";
import { printDone, suggestionLines, whatGoesOnWith } from "./blocked.ts";

export interface Flags extends RunFlags, SourceFlags {
  /** False: `--no-job-summary`. */
  readonly jobSummary?: boolean;
  readonly allowDirty?: boolean;
  /** False: `--no-keep-awake`. */
  readonly keepAwake?: boolean;
  readonly dryRun?: boolean;
  readonly quiet?: boolean;
  readonly monitor?: boolean;
  readonly guided?: boolean;
}

export function define(command: Command, act: Act): void {
  withSandboxOptions(withRunOptions(withSourceOptions(command)))
    .option(
      "--parallel [n]",
      "so many tasks at a time, each in a worktree of its own; without a number as many as there are cores, at most 4",
      wholeNumber("--parallel"),
    )
    .option("--worktree", "work in worktrees also with one lane")
    .option("--approve", "hold accepted work until you approve it")
    .option(
      "--guided",
      'show what will happen, ask once, and show the result for a decision; ralph "GOAL" is short for it',
    )
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
    .action(
      act(async (context, goal: string | undefined, flags: Flags) => {
        if (flags.guided === true && goal !== undefined)
          return (await import("./guided-run.ts")).guidedRun(context, goal, flags);
        if (flags.monitor !== true) return run(context, goal, flags);
        const { runWithMonitor } = await import("./monitor.ts");
        return runWithMonitor(context, goal, flags);
      }),
    );
}

/** `first`: what is recorded before the run starts, if it does. */
export async function run(
  context: CliContext,
  goal: string | undefined,
  flags: Flags,
  first?: Drive["first"],
): Promise<number> {
  const prepared = await prepareRun(goal, flags, context);
  const { project, source, tasks, why, agents, settings } = prepared;
  // Nothing to do is done; but who wrote a list did not mean that.
  if (tasks === 0)
    context.say(`${source.identity.label} has no tasks\n  → how they are written: ralph help tasks`);
  if (context.verbose || flags.dryRun === true) context.say(why);
  if (flags.dryRun === true) {
    await requirePrograms(prepared, context.say);
    return showPlan(prepared, context);
  }
  await requireStartable(prepared);
  if (flags.quiet !== true) for (const agent of agents) sayAgent(agent, project, flags.agent);
  const display = printerFor(context, flags.quiet);
  const end = await driveRun(prepared, { ...context, ...flags, display, first });
  const suggests = flags.quiet !== true && settings.unblock.autoSuggest;
  if (!context.json) await printEnd(end, project, suggests, context);
  await appendJobSummary(project, flags, context);
  return exitCodeOf(end);
}

export function exitCodeOf({ run: last }: State): number {
  return last?.end == null ? EXIT_CODES.stopped : EXIT_CODES[last.end.outcome];
}

/** The summary of a run, and what would help the tasks that are blocked now. */
export async function printEnd(
  end: State,
  project: Project,
  suggests: boolean,
  { print }: CliContext,
): Promise<void> {
  const log = join(relative(project.root, project.ralphDir), "logs", "summary.csv");
  const blocked = suggests ? await blockedNow(project, end) : [];
  const help = blocked.length === 0 ? [] : ["", "What would help:", ...suggestionLines(blocked)];
  print(["", ...runSummary(end, log), ...help]);
}

/** Adds the short report of the run to the page of the CI job. That it cannot be written changes nothing about the run. */
export async function appendJobSummary(
  project: Project,
  flags: Pick<Flags, "jobSummary">,
  { env, say, version }: CliContext,
): Promise<void> {
  const file = env["GITHUB_STEP_SUMMARY"];
  if (!file || flags.jobSummary === false) return;
  const { reportOfRun } = await import("./report.ts");
  const { jobSummary } = await import("../../core/report/markdown-report.ts");
  const report = await reportOfRun(project, undefined, version);
  if (report === null) return;
  try {
    appendFileSync(file, jobSummary(report));
  } catch (error) {
    say(`the summary of the job cannot be written to ${file} (${(error as Error).message})`);
  }
}

/** As if a run had begun after this state. */
export function withRunBegun(state: State, settings: Settings, plan: Plan, at: Instant): State {
  const { position } = state;
  const run = "dry-run";
  const started: Recorded[] = [
    { type: "run.started", run, settings, pid: process.pid, version: "", position: position + 1, at },
    { type: "tasks.observed", run, plan, position: position + 2, at },
  ];
  return evolveAll(started, state);
}

/** What a run would do first: the plan and the exact first prompt. Nothing is written, no agent starts. */
async function showPlan(prepared: Prepared, { json, print, stdout }: CliContext): Promise<number> {
  const { settings, source, notes } = prepared;
  const plan = await source.observe();
  const at = Date.now();
  const state = withRunBegun(EMPTY_STATE, settings, plan, at);
  const ready = state.run === null ? [] : readyTasks(state, state.run, plan, at);
  const around = { head: null, branch: null, notes: await notes.read(), notesPath: notes.path };
  const first = ready[0] && beginIteration(state, ready[0].id, 1, around, at);
  if (json) {
    const tasks = plan.tasks.map((task) => {
      const { id, title, done } = task;
      const { timeoutMs, from } = timeoutFor(state, task, settings);
      return { id, title, done, timeout_seconds: timeoutMs / 1_000, timeout_from: from };
    });
    print(JSON.stringify({ ...planOf(prepared, plan), tasks, prompt: first?.prompt ?? null }));
    return 0;
  }
  print([
    `${plan.source.label}: ${count(plan.tasks.length, "task")}, ${ready.length} ready`,
    ...plan.tasks.map((task) => {
      const { timeoutMs, from } = timeoutFor(state, task, settings);
      const time = task.done ? "" : `  ${formatDuration(timeoutMs)} each (${from})`;
      return `  [${task.done ? "x" : " "}] ${task.id}  ${task.title}${time}`;
    }),
  ]);
  if (first) stdout.write(`\nThe first prompt (${settings.agent}):\n\n${first.prompt}`);
  return 0;
}

export function defineRetryBlocked(command: Command, act: Act): void {
  withSandboxOptions(withSourceOptions(command))
    .option(
      "--max-attempts <n>",
      "failed iterations in a row, then a task is blocked again",
      wholeNumber("--max-attempts"),
    )
    .option("--check <command>", "a gate that must pass (repeatable)", collect)
    .option("-n, --max-iterations <n>", "iterations of the whole run", wholeNumber("--max-iterations"))
    .option("--timeout <duration>", "of each iteration, e.g. 90s, 45m, 2h", duration("--timeout"))
    .option("--agent <name>", "who works")
    .option("--model <name>", "which model the agent uses")
    .option("--keep-going", "a task that is blocked again does not stop the run (always so)")
    .option("--no-wait", "end where it would wait for a limit (exit code 5) or a deadline (3)")
    .option("--allow-dirty", "start on uncommitted changes, and leave exactly those paths alone")
    .option("--no-keep-awake", "let the machine fall asleep while agents work")
    .option("--json", "events as JSON lines on stdout")
    .option("--quiet", "only the summary")
    .action(act(retryBlocked));
}

async function retryBlocked(context: CliContext, flags: Flags): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, "unblock tasks");
  const state = await readState(project);
  // A task that is not in the list any more cannot be worked on.
  const planned = new Set((state.plan?.tasks ?? []).map(({ id }) => id));
  const blocked = blockedIds(state).filter((id) => planned.has(id));
  if (blocked.length === 0) {
    const why = "no task is blocked, so there is nothing to try again";
    return tellActed(context, { is: "refused", why, isMoot: true });
  }
  if (project.queue !== null) {
    await withLog(project, (log) => log.append(unblocked(state, blocked)));
    return handedOver(
      project,
      blocked,
      blocked.map((id) => `${id} is no longer blocked`),
      context,
    );
  }
  const { goal, ...source } = sourceOfLastRun(state, flags, project.root);
  // Each gets its chance, whatever becomes of the others.
  const own = { ...flags, ...source, task: blocked, keepGoing: true };
  return run(context, goal, own, (now) => unblocked(now, blocked));
}

/** Somebody else works on these tasks: the run that is open, or workers. */
async function handedOver(
  project: Project,
  tasks: readonly string[],
  done: readonly string[],
  context: CliContext,
): Promise<number> {
  const next = await whatGoesOnWith(project, tasks);
  if (!context.json) printDone(done, next, context);
  return tell(context, { done: true, said: done.join("\n"), tasks, next }, () => []);
}

export function defineRetry(command: Command, act: Act): void {
  command
    .argument("<task>", "the task; its id may be shortened")
    .option(
      "--timeout <duration>",
      "of its iterations from now on, exactly: 1800, 40m, 2h",
      duration("--timeout"),
    )
    .option("--reason <text>", "what has changed; it is kept")
    .option("--json", "events as JSON lines on stdout; JSON if a run that is open does it")
    .option("--quiet", "only the summary")
    .action(act(retry));
}

/** The next try of one task: by the run that is open, or by a run of its own. */
async function retry(
  context: CliContext,
  asked: string,
  { reason = "retry", timeout, ...flags }: Flags & { readonly reason?: string },
): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, "unblock tasks");
  const state = await readState(project);
  const task = await meantTask(asked, state, project);
  if (taskState(state, task).isSkipped)
    throw new RalphError("usage", `${task} is skipped`, { hint: `ralph skip ${asArgument(task)} --undo` });
  const isBlocked = whyBlocked(taskState(state, task)) !== null;
  // Accepted work whose merge is held is tried again.
  if (!isBlocked && taskState(state, task).completion !== null)
    throw new RalphError("usage", `${task} is done`, {
      hint: `take it back: ralph undo ${asArgument(task)}`,
    });
  const timeoutMs = timeout ?? null;
  const done = isBlocked
    ? [await mustAct(project, { do: "unblock", task, reason, timeoutMs, runs: true })]
    : [];
  if (project.queue !== null || (await isDriven(project))) return handedOver(project, [task], done, context);
  for (const line of done) context.say(line);
  const { goal, ...source } = sourceOfLastRun(state, {}, project.root);
  return run(context, goal, { ...flags, ...source, ...(timeout !== undefined && { timeout }), task: [task] });
}

/** A run of these tasks alone, which prints nothing; in worktrees, so that an unclean checkout is no hindrance. */
export async function runJust(tasks: readonly string[], state: State, context: CliContext): Promise<void> {
  const { root } = await openProject(context);
  const { goal, ...source } = sourceOfLastRun(state, {}, root);
  const prepared = await prepareRun(
    goal,
    { ...source, task: tasks, worktree: true, keepGoing: true },
    context,
  );
  await requireStartable(prepared);
  const display = printerFor(context, true);
  await driveRun(prepared, { display, version: context.version, keepAwake: false });
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
  const around = { isDriven: true, id: "" };
  return tasks.flatMap((task) => {
    const planned = planAct(state, { do: "unblock", task, reason: "retry-blocked" }, around);
    return planned.is === "possible" ? planned.events : [];
  });
}
