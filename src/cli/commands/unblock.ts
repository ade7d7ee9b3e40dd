import type { Command } from "commander";
import { openProject, type Project } from "../../compose.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import type { EventOf } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { isMeantBy, type BlockedTask } from "../../core/projections/blocked.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { blockedNow } from "../blocked-now.ts";
import type { Act, CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";
import { refreshStatus } from "../refresh-status.ts";
import { unknownTask } from "../unknown-task.ts";
import { whoGoesOn } from "../who-goes-on.ts";
import { requirePerson } from "../require-person.ts";

interface Flags {
  readonly all?: boolean;
  readonly filter?: string;
  readonly timeout?: number;
  readonly timeoutMultiplier?: number;
  readonly reason?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[task]", "the task to unblock")
    .option("--all", "every blocked task")
    .option("--filter <word>", "those of a complexity (ui_heavy), or with this word in the reason")
    .option("--timeout <duration>", "of its iterations from now on, exactly: 1800, 40m, 2h", duration)
    .option("--timeout-multiplier <factor>", "so many times its last timeout", factor)
    .option("--reason <text>", "what has changed; it is kept")
    .action((task: string | undefined, flags: Flags) => act((context) => unblock(task, flags, context)));
}

async function unblock(task: string | undefined, flags: Flags, context: CliContext): Promise<number> {
  refuseContradictions(task, flags);
  const project = await openProject(context);
  requirePerson(project, context.env, "unblock tasks");
  const state = await readState(project);
  const blocked = await blockedNow(project, state);
  const meant = task === undefined ? chosen(blocked, flags) : [await named(task, blocked, state, project)];
  const { stderr } = context;
  if (meant.length === 0) stderr.write(`ralph: ${nothing(blocked, flags)}\n`);
  const freed = await record(project, meant, flags);
  for (const { id, timeoutMs } of freed)
    stderr.write(
      `ralph: ${id} is no longer blocked${timeoutMs === null ? "" : `; ${formatDuration(timeoutMs)} each from now on`}\n`,
    );
  if (freed.length > 0) await refreshStatus(project);
  const after = await readState(project);
  const next = new Set(await Promise.all(freed.map(({ id }) => whoGoesOn(project, after, id))));
  for (const step of next) stderr.write(`  → ${step}\n`);
  return 0;
}

function refuseContradictions(task: string | undefined, flags: Flags): void {
  const ways = [task !== undefined, flags.all === true, flags.filter !== undefined].filter(Boolean);
  if (ways.length === 0)
    throw new RalphError("usage", "say which task to unblock", {
      hint: "ralph unblock TASK, or --filter WORD, or --all; which are blocked: ralph blocked",
    });
  if (ways.length > 1)
    throw new RalphError("usage", "a task, --filter and --all exclude each other", {
      hint: "ralph unblock TASK, or --filter WORD, or --all",
    });
  if (flags.timeout !== undefined && flags.timeoutMultiplier !== undefined)
    throw new RalphError("usage", "--timeout and --timeout-multiplier exclude each other", {
      hint: "--timeout 40m is exact, --timeout-multiplier 2 doubles the last one",
    });
}

function chosen(blocked: readonly BlockedTask[], { filter }: Flags): readonly BlockedTask[] {
  return filter === undefined ? blocked : blocked.filter((task) => isMeantBy(filter, task));
}

async function named(
  id: string,
  blocked: readonly BlockedTask[],
  state: State,
  project: Project,
): Promise<BlockedTask> {
  const found = blocked.find((task) => task.id === id);
  if (found !== undefined) return found;
  const planned = state.plan?.tasks.find((task) => task.id === id);
  if (planned === undefined && state.tasks[id] === undefined) throw await unknownTask(id, state, project);
  const status = planned === undefined ? "not in the task list" : statusOf(state, planned);
  throw new RalphError("usage", `${id} is not blocked: it is ${status}`, {
    hint: status === "undecided" ? `it waits for an answer: ralph decide ${id} "…"` : `ralph why ${id}`,
  });
}

function nothing(blocked: readonly BlockedTask[], { filter }: Flags): string {
  if (blocked.length === 0 || filter === undefined) return "no task is blocked";
  const all = blocked.map(({ id, complexity }) => `${id} (${complexity ?? "unknown"})`).join(", ");
  return `no blocked task is "${filter}" or has it in its reason; blocked are ${all}`;
}

interface Freed {
  readonly id: string;
  readonly timeoutMs: number | null;
}

/** Those that somebody else unblocked in between are left out. */
async function record(
  project: Project,
  tasks: readonly BlockedTask[],
  flags: Flags,
): Promise<readonly Freed[]> {
  const reason = flags.reason?.trim() || "no reason given";
  const freed: Freed[] = [];
  for (const task of tasks) {
    const timeoutMs = timeoutOf(task, flags);
    const event = { type: "task.unblocked", task: task.id, reason, timeoutMs, by: "person" } as const;
    if (await recordIfBlocked(project, event)) freed.push({ id: task.id, timeoutMs });
  }
  return freed;
}

/** A run may be about to write the letter: what comes between is looked at, and then it is tried again. */
async function recordIfBlocked(project: Project, event: EventOf<"task.unblocked">): Promise<boolean> {
  for (;;) {
    const known = (await readState(project)).tasks[event.task];
    if (known === undefined || known.blockedReason === null) return false;
    const expected = { task: { id: event.task, position: known.position } };
    if ((await withLog(project, (log) => log.append([event], expected))) !== null) return true;
  }
}

function timeoutOf({ lastTimeoutMs }: BlockedTask, flags: Flags): number | null {
  if (flags.timeout !== undefined) return flags.timeout;
  if (flags.timeoutMultiplier === undefined || lastTimeoutMs === null) return null;
  return Math.max(1_000, Math.round(lastTimeoutMs * flags.timeoutMultiplier));
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new RalphError("usage", `--timeout is "${text}"; expected seconds or a duration`, {
    hint: "for example: --timeout 1800, --timeout 40m, --timeout 1h30m",
  });
}

function factor(text: string): number {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text.trim()) && number > 0) return number;
  throw new RalphError("usage", `--timeout-multiplier is "${text}"; expected a number above 0`, {
    hint: "for example: --timeout-multiplier 3.0",
  });
}
