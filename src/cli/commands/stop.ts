import { asArgument, asWords } from "../../core/text.ts";
import { activeLoops, type Loop, allMessages, type MessageEntry } from "../../core/projections/status.ts";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { readState, refreshStatus, withLog } from "../project-state.ts";
import { nobody, requirePerson, unknownTask } from "../require-person.ts";
import { sourceRequest } from "../run-options.ts";
import { hasLog, isDriven, openProject, readConfig, sourceOf, type Project } from "../../compose.ts";
import type { Event } from "../../core/events.ts";
import { isOpen, type RunState, type State } from "../../core/loop/state.ts";
import { STEER_LENGTH_MAX } from "../../core/loop/steer.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { latestState } from "../../engine/operator.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--now", "do not wait for the iteration: as Ctrl-C")
    .action((flags: { now?: boolean }) => act((context) => stop(flags.now === true, context)));
}

async function stop(now: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "stop the run");
  const { run } = await readState(project);
  if (!isOpen(run) || !(await isDriven(project))) {
    context.stderr.write(`ralph: nothing to stop, ${nobody(project)}\n`);
    return 0;
  }
  const urgency = now ? "now" : "after-iteration";
  await withLog(project, (log) => log.append([{ type: "stop.requested", run: run.id, urgency }]));
  context.stderr.write(
    now ? "ralph: the run is asked to stop now\n" : "ralph: the run ends after the current iteration\n",
  );
  return 0;
}

export function defineCancel(command: Command, act: Act): void {
  command
    .argument("[task]", "whose loop")
    .option("--all", "every loop, and the run with them")
    .action((task: string | undefined, flags: { all?: boolean }) =>
      act((context) => cancel(task, flags.all === true, context)),
    );
}

async function cancel(task: string | undefined, all: boolean, context: CliContext): Promise<number> {
  if ((task !== undefined) === all)
    throw new RalphError("usage", "whose loop?", { hint: "ralph cancel TASK, or ralph cancel --all" });
  const project = await openProject(context);
  requirePerson(project, context.env, "cancel a task");
  const state = await readState(project);
  const { run } = state;
  if (!isOpen(run) || !(await isDriven(project))) {
    context.stderr.write(`ralph: nothing to cancel, ${nobody(project)}\n`);
    return 0;
  }
  const loops = activeLoops(state).filter((loop) => all || loop.task === task);
  if (task !== undefined && loops.length === 0)
    throw new RalphError("usage", `the task "${task}" has no loop under way`, {
      hint: "what is under way: ralph ralph-status",
    });
  await withLog(project, (log) => log.append(eventsFor(run, loops, all)));
  if (!(await areGone(project, loops))) {
    context.stderr.write("ralph: asked for, but the run does not react; to end it all: ralph stop --now\n");
    return 1;
  }
  for (const { task: id, iteration, maxIterations } of loops)
    context.stdout.write(`Cancelled Ralph loop for ${id} at iteration ${iteration}/${maxIterations}\n`);
  return 0;
}

function eventsFor({ id: run }: RunState, loops: readonly Loop[], all: boolean): readonly Event[] {
  const cancelled = loops.map(({ task }): Event => ({ type: "task.cancelled", run, task }));
  return all ? [...cancelled, { type: "stop.requested", run, urgency: "after-iteration" }] : cancelled;
}

/** Its agent has two seconds, and then no choice. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 50;

async function areGone(project: Project, loops: readonly Loop[]): Promise<boolean> {
  const ids = new Set(loops.map(({ task }) => task));
  // A worker that has just died is waited for as others wait for it.
  const end = Date.now() + PATIENCE_MS + (project.queue?.leaseMs ?? 0);
  return withLog(project, async (log) => {
    for (; Date.now() < end; await sleep(LOOK_MS)) {
      const { iterations } = await latestState(log);
      if (!iterations.some((open) => ids.has(open.task) && open.phase.is === "running")) return true;
    }
    return false;
  });
}

export function defineSteer(command: Command, act: Act): void {
  command
    .argument("[task]", "the task whose agent is meant; without it whichever works next")
    .argument("[message]", "in quotes; without it what was said so far is listed")
    .option("--json", "print JSON")
    .allowExcessArguments()
    .action((...rest: readonly unknown[]) => {
      const { json } = rest.at(-2) as { json?: boolean };
      return act((context) => steer(command.args, json === true, context));
    });
}

async function steer(words: readonly string[], asJson: boolean, context: CliContext): Promise<number> {
  if (words.length > 2)
    throw new RalphError("usage", "a message of several words needs quotes", {
      hint: `ralph steer ${asArgument(words[0] ?? "TASK")} ${asWords(words.slice(1).join(" "))}`,
    });
  const project = await openProject(context);
  requirePerson(project, context.env, "send messages");
  const state = await readState(project);
  const known = await knownTasks(project, state, context);
  const [first, second] = words;
  const isTask = first !== undefined && known.has(first);
  if (first === undefined || (second === undefined && isTask))
    return list(project, state, first ?? null, asJson, context);
  if (second !== undefined && !isTask) throw await unknownTask(first, state, project, [...known]);
  const task = second === undefined ? null : first;
  const text = checked(second ?? first);
  refuseDone(task, state);
  const given = { type: "steer.given", task, id: randomUUID().slice(0, 8), text } as const;
  await withLog(project, (log) => log.append([given]));
  await refreshStatus(project);
  const next = whatHappens(task, state, await isDriven(project));
  if (asJson) context.stdout.write(`${JSON.stringify({ id: given.id, task, text, next }, null, 2)}\n`);
  else context.stderr.write(`ralph: ${next}\n`);
  return 0;
}

/** Of the log, and of the list as it is now: a first message may come before the first run. */
async function knownTasks(
  project: Project,
  state: State,
  { cwd, env }: CliContext,
): Promise<ReadonlySet<string>> {
  const recorded = [...(state.plan?.tasks ?? []).map(({ id }) => id), ...Object.keys(state.tasks)];
  try {
    const config = await readConfig(project, env);
    const { source } = await sourceOf(
      project,
      sourceRequest(undefined, {}, config, { cwd, root: project.root, env }),
    );
    return new Set([...recorded, ...(await source.observe()).tasks.map(({ id }) => id)]);
  } catch (error) {
    if (error instanceof RalphError) return new Set(recorded);
    throw error;
  }
}

function checked(words: string): string {
  const text = words.replaceAll("\r\n", "\n").trim();
  if (text === "")
    throw new RalphError("usage", "say what the agent should know", {
      hint: 'ralph steer "use the v2 API", or for one task: ralph steer TASK "…"',
    });
  if (text.length > STEER_LENGTH_MAX)
    throw new RalphError(
      "usage",
      `the message has ${text.length} characters, and a prompt has room for ${STEER_LENGTH_MAX}`,
      { hint: "shorten it, or put it into a file of the repository and name that" },
    );
  return text;
}

function refuseDone(id: string | null, state: State): void {
  const task = state.plan?.tasks.find((planned) => planned.id === id);
  if (task === undefined || statusOf(state, task) !== "done") return;
  throw new RalphError("usage", `${task.id} is done, so no agent would read it`, {
    hint: "take its mark back in the task list, and say it again",
  });
}

/** What becomes of the message, as far as it can be known now. */
function whatHappens(id: string | null, state: State, isDriven: boolean): string {
  const open = isDriven && isOpen(state.run) ? state.iterations : [];
  const running = open.find(({ task, phase }) => phase.is === "running" && (id === null || task === id));
  if (running !== undefined)
    return `iteration ${running.number} of ${running.task} is under way: its agent is told at once if it takes messages, otherwise in the next prompt. See: ralph steer`;
  const at = `(iteration ${state.lastIteration + 1}${open.length === 0 ? "" : " or later"})`;
  if (id === null) return `it will be in the next prompt ${at}, whatever the task`;
  const planned = state.plan?.tasks.find((task) => task.id === id);
  const status = planned === undefined ? "todo" : statusOf(state, planned);
  const first =
    status === "blocked"
      ? `; it is blocked: ralph unblock ${asArgument(id)}`
      : status === "undecided"
        ? `; it waits for an answer: ralph decide ${asArgument(id)} "…"`
        : "";
  return `it will be in the next prompt of ${id} ${at}${first}`;
}

async function list(
  project: Project,
  state: State,
  task: string | null,
  asJson: boolean,
  { stdout }: CliContext,
): Promise<number> {
  const types = ["steer.given", "steer.used"] as const;
  const events = hasLog(project) ? await withLog(project, (log) => log.read(0, { types })) : [];
  const messages = allMessages(events, state).filter(
    (message) => task === null || message.task === task || message.used.some((use) => use.task === task),
  );
  if (asJson) stdout.write(`${JSON.stringify(messages, null, 2)}\n`);
  else if (messages.length === 0) stdout.write('Nothing was said. Say something: ralph steer "…"\n');
  else for (const message of messages) stdout.write(`${line(message)}\n`);
  return 0;
}

const STATES: Readonly<Record<MessageEntry["state"], string>> = {
  waiting: "waits",
  working: "at work",
  used: "used",
  dropped: "dropped",
};

function line({ task, text, state, used }: MessageEntry): string {
  const uses = used.map(({ iteration, how }) =>
    how === "prompt" ? `in the prompt of iteration ${iteration}` : `told to iteration ${iteration}`,
  );
  const fate = uses.length === 0 ? "" : `  (${uses.join(", ")})`;
  return `${STATES[state]}  ${task ?? "whatever comes next"}: ${text}${fate}`;
}
