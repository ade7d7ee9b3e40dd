import { type Project, isDriven, openProject, requirePerson } from "../../app/project.ts";
import { meantId, meantTask, readEvents, readState, withLog } from "../../app/project-log.ts";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { act as actOn, listedTasks, mustAct } from "../../app/operator.ts";
import { RalphError } from "../../core/errors.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { isOpen, type State } from "../../core/state.ts";
import { asArgument, asWords } from "../../core/text.ts";
import {
  activeLoops,
  allMessages,
  loopEntry,
  type Loop,
  type MessageEntry,
} from "../../core/views/status.ts";
import { latestState } from "../../engine/follow-log.ts";
import { tell, tellActed, type Act, type CliContext } from "../commands.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--now", "do not wait for the iteration: as Ctrl-C")
    .option("--json", "print JSON")
    .action(act(stop));
}

async function stop(context: CliContext, { now = false }: { now?: boolean }): Promise<number> {
  return tellActed(context, await actOn(await openProject(context), { do: "stop", now }));
}

export function defineCancel(command: Command, act: Act): void {
  command
    .argument("[task]", "whose loop")
    .option("--all", "every loop, and the run with them")
    .option("--json", "print JSON")
    .action(act(cancel));
}

async function cancel(
  context: CliContext,
  asked: string | undefined,
  { all = false }: { all?: boolean },
): Promise<number> {
  if ((asked !== undefined) === all)
    throw new RalphError("usage", "whose loop?", { hint: "ralph cancel TASK, or ralph cancel --all" });
  const project = await openProject(context);
  const state = await readState(project);
  const task = asked === undefined ? null : await meantTask(asked, state, project);
  const loops = activeLoops(state).filter((loop) => all || loop.task === task);
  const acted = await actOn(project, { do: "cancel", task });
  if (acted.is === "refused") return tellActed(context, acted, { cancelled: [] });
  const isDone = await areGone(project, loops);
  const lines = isDone
    ? loops.map(
        (loop) =>
          `Cancelled Ralph loop for ${loop.task} at iteration ${loop.iteration}/${loop.maxIterations}`,
      )
    : ["asked for, but the run does not react; to end it all: ralph stop --now"];
  const cancelled = isDone ? loops.map(loopEntry) : [];
  if (context.json)
    tell(context, { done: isDone, said: lines.join("\n") || acted.said, cancelled }, () => []);
  else if (isDone) context.print(lines);
  else for (const line of lines) context.say(line);
  return isDone ? 0 : 1;
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
  const [first, second] = words;
  if (first === undefined) return listMessages(project, state, null, context);
  const task = second === undefined ? null : await meantTask(first, state, project);
  if (second === undefined) {
    const known = [...(state.plan?.tasks ?? []).map(({ id }) => id), ...Object.keys(state.tasks)];
    const named = meantId(first, [...known, ...(await listedTasks(project))]);
    if (named !== null) return listMessages(project, state, named, context);
  }
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
