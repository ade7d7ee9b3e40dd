import { join } from "node:path";
import type { Command } from "commander";
import { openProject, type Project } from "../../compose.ts";
import type { Event } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import { blockedIds } from "../../core/projections/blocked.ts";
import type { Act, CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";
import { withSourceOptions, type SourceFlags } from "../source-request.ts";
import { collect, withSandboxOptions } from "../run-options.ts";
import { run, type Flags } from "./run.ts";
import { requirePerson } from "../require-person.ts";
import { whoGoesOn } from "../who-goes-on.ts";

export function define(command: Command, act: Act): void {
  withSandboxOptions(withSourceOptions(command))
    .option("--max-attempts <n>", "failed iterations in a row, then a task is blocked again")
    .option("--check <command>", "a gate that must pass (repeatable)", collect)
    .option("-n, --max-iterations <n>", "iterations of the whole run")
    .option("--timeout <duration>", "of each iteration, e.g. 90s, 45m, 2h")
    .option("--agent <name>", "who works")
    .option("--model <name>", "which model the agent uses")
    .option("--keep-going", "a task that is blocked again does not stop the run")
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
