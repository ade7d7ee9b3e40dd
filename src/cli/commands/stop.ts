import { type Project, isDriven, openProject, requirePerson } from "../../app/project.ts";
import { readEvents, readState, unknownTask, withLog } from "../../app/project-log.ts";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { act as actOn, listedTasks, mustAct, wordsIfDone } from "../../app/operator.ts";
import { RalphError } from "../../core/errors.ts";
import type { Acted } from "../../core/loop/operator-act.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { isOpen, type State } from "../../core/state.ts";
import { asArgument, asWords } from "../../core/text.ts";
import { activeLoops, allMessages, type Loop, type MessageEntry } from "../../core/views/status.ts";
import { latestState } from "../../engine/follow-log.ts";
import { tell, type Act, type CliContext } from "../commands.ts";

export function define(command: Command, act: Act): void {
  command.option("--now", "do not wait for the iteration: as Ctrl-C").action(act(stop));
}

async function stop(context: CliContext, { now = false }: { now?: boolean }): Promise<number> {
  context.say(wordsOf(await actOn(await openProject(context), { do: "stop", now })));
  return 0;
}

/** What was done, or is so already; anything else is an error. */
function wordsOf(acted: Acted): string {
  return acted.is === "refused" && acted.isMoot === true ? acted.why : wordsIfDone(acted);
}

export function defineCancel(command: Command, act: Act): void {
  command
    .argument("[task]", "whose loop")
    .option("--all", "every loop, and the run with them")
    .action(act(cancel));
}

async function cancel(
  context: CliContext,
  task: string | undefined,
  { all = false }: { all?: boolean },
): Promise<number> {
  if ((task !== undefined) === all)
    throw new RalphError("usage", "whose loop?", { hint: "ralph cancel TASK, or ralph cancel --all" });
  const project = await openProject(context);
  const loops = activeLoops(await readState(project)).filter((loop) => all || loop.task === task);
  const acted = await actOn(project, { do: "cancel", task: task ?? null });
  if (acted.is === "refused") {
    context.say(wordsOf(acted));
    return 0;
  }
  if (!(await areGone(project, loops))) {
    context.say("asked for, but the run does not react; to end it all: ralph stop --now");
    return 1;
  }
  for (const { task: id, iteration, maxIterations } of loops)
    context.print(`Cancelled Ralph loop for ${id} at iteration ${iteration}/${maxIterations}`);
  return 0;
}

/** Its agent has two seconds, and then no choice. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 50;

async function areGone(project: Project, loops: readonly Loop[]): Promise<boolean> {
  const ids = new Set(loops.map(({ task }) => task));
  // A worker that has just died keeps its lease until that ends.
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
    .action(act((context) => steer(context, command.args)));
}

async function steer(context: CliContext, words: readonly string[]): Promise<number> {
  if (words.length > 2)
    throw new RalphError("usage", "a message of several words needs quotes", {
      hint: `ralph steer ${asArgument(words[0] ?? "TASK")} ${asWords(words.slice(1).join(" "))}`,
    });
  const project = await openProject(context);
  requirePerson(project, "send messages");
  const state = await readState(project);
  const listed = await listedTasks(project);
  const known = [...(state.plan?.tasks ?? []).map(({ id }) => id), ...Object.keys(state.tasks), ...listed];
  const [first, second] = words;
  const isTask = first !== undefined && known.includes(first);
  if (first === undefined || (second === undefined && isTask))
    return listMessages(project, state, first ?? null, context);
  if (second !== undefined && !isTask) throw await unknownTask(first, state, project, listed);
  const task = second === undefined ? null : first;
  const text = second ?? first;
  const id = randomUUID().slice(0, 8);
  await mustAct(project, { do: "steer", task, text }, { id });
  const next = whatHappens(task, state, await isDriven(project));
  if (!context.json) context.say(next);
  return tell(context, { id, task, text, next }, () => []);
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

const MESSAGE_EVENTS = ["steer.given", "steer.used"] as const;

async function listMessages(
  project: Project,
  state: State,
  task: string | null,
  context: CliContext,
): Promise<number> {
  const messages = allMessages(await readEvents(project, { types: MESSAGE_EVENTS }), state).filter(
    (message) => task === null || message.task === task || message.used.some((use) => use.task === task),
  );
  return tell(context, messages, () =>
    messages.length === 0 ? ['Nothing was said. Say something: ralph steer "…"'] : messages.map(messageLine),
  );
}

const STATES: Readonly<Record<MessageEntry["state"], string>> = {
  waiting: "waits",
  working: "at work",
  used: "used",
  dropped: "dropped",
};

function messageLine({ task, text, state, used }: MessageEntry): string {
  const uses = used.map(({ iteration, how }) =>
    how === "prompt" ? `in the prompt of iteration ${iteration}` : `told to iteration ${iteration}`,
  );
  const fate = uses.length === 0 ? "" : `  (${uses.join(", ")})`;
  return `${STATES[state]}  ${task ?? "whatever comes next"}: ${text}${fate}`;
}
