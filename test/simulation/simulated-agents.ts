import { type AgentReport, type Ending, UNKNOWN_USAGE } from "../../src/core/streams/agent-report.ts";
import { isReading } from "../../src/core/loop/stages.ts";
import type { AgentRequest, Agents } from "../../src/engine/ports.ts";
import { behave, reportOf, type Behaviour } from "./agent-behaviour.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { sessionFor } from "./sessions.ts";
import { checkStart } from "./start-invariants.ts";
import { checkStoryStart } from "./story-invariants.ts";
import type { AgentProcess, World } from "./world.ts";

/** `isHere`: whether a process is on this machine, where there are several. */
export function simulatedAgents(
  world: World,
  facts: DurableFacts,
  isHere: (process: AgentProcess) => boolean = () => true,
): Agents {
  const sweep = (marker: string): number => sweepAmong(world.livingProcesses.filter(isHere), marker);
  return {
    run: async (request, signal) => {
      if (request.part === "reader") return readClaim(world, facts, request, signal, sweep);
      checkStoryStart(world, request);
      checkStart(world, facts, request);
      world.prompts.set(request.iteration, request.prompt);
      if (!isReading({}, request.stage)) world.lastBuilt.set(request.task, request.iteration);
      const sessionId = sessionFor(world, request);
      const truth = world.truth(request.task);
      const behaviour = behave(world, truth, request);
      const { marker, iteration, root } = request;
      const process: AgentProcess = { marker, iteration, root, alive: true };
      world.processes.push(process);
      const startedAt = world.time.now();
      const ending = await live(world, process, behaviour, request.timeoutMs, signal);
      sweep(request.marker);
      if (world.hasPlace(root))
        world.doneWhenEnded.set(iteration, world.isDoneIn(world.checkoutAt(root).files, request.task));
      const report = reportOf(behaviour, ending, world.time.now() - startedAt);
      // Where lanes share a budget, a call has its price.
      const usage = world.lanes === null ? UNKNOWN_USAGE : { ...UNKNOWN_USAGE, costUsd: 1 };
      return { ...report, usage, sessionId };
    },
    send: (iteration, text) => {
      const isAlive = world.livingProcesses.some(
        (process) => isHere(process) && process.iteration === iteration,
      );
      const listens = isAlive && world.random.chance(0.5);
      if (listens) world.told.set(iteration, `${world.told.get(iteration) ?? ""}\n${text}`);
      return Promise.resolve(listens);
    },
    sweep: (marker) => Promise.resolve(sweep(marker)),
    recoverReport: (): Promise<AgentReport> =>
      Promise.resolve({
        ending: { is: "interrupted" },
        claim: { is: "none" },
        failure: null,
        transcript: { path: "logs/simulated.log", bytes: 0, sha256: "" },
        usage: UNKNOWN_USAGE,
        durationMs: 0,
        finalText: "",
        toolCalls: 0,
        sweptProcesses: 0,
      }),
  };
}

/** Lives through one process: half the time, the work, the other half. It goes on without its engine. */
async function live(
  world: World,
  process: AgentProcess,
  behaviour: Behaviour,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ending> {
  world.time.at(world.time.now() + behaviour.takesMs / 2, () => {
    if (process.alive && world.hasPlace(process.root)) behaviour.work();
  });
  world.time.at(world.time.now() + behaviour.takesMs, () => {
    if (!behaviour.leavesChild) process.alive = false;
  });
  if (behaviour.takesMs > timeoutMs) {
    await world.time.sleep(timeoutMs, signal);
    return signal.aborted ? { is: "stopped" } : { is: "timed-out", afterMs: timeoutMs };
  }
  await world.time.sleep(behaviour.takesMs, signal);
  return signal.aborted ? { is: "stopped" } : behaviour.ending;
}

function sweepAmong(processes: readonly AgentProcess[], marker: string): number {
  const left = processes.filter((process) => process.marker === marker);
  for (const process of left) process.alive = false;
  return left.length;
}

type ReaderMood = "right" | "wrong" | "late" | "limited" | "gone" | "malformed" | "meddles" | "silent";

const MOODS: readonly ReaderMood[] = [
  ...(["right", "right", "right", "right", "wrong"] as const),
  ...(["late", "limited", "gone", "malformed", "meddles", "silent"] as const),
];

/** In lanes, where a call has its price. */
const READING_USD = 0.25;

/** A second reader: mostly right, sometimes wrong, late, limited, gone, or not to be understood. */
async function readClaim(
  world: World,
  facts: DurableFacts,
  request: AgentRequest,
  signal: AbortSignal,
  sweep: (marker: string) => number,
): Promise<AgentReport> {
  const { marker, iteration, root, task, timeoutMs } = request;
  const trial = world.trials.get(root ?? "");
  if (trial === undefined) world.violate(`the reader of iteration ${iteration} was sent to ${root}`);
  const mood = world.random.pick(MOODS);
  const isDone = trial !== undefined && world.isDoneIn(trial.files, task);
  const isContent = mood === "wrong" ? !isDone : isDone;
  const process: AgentProcess = { marker, iteration, root, alive: true };
  world.processes.push(process);
  world.lastReader.set(iteration, marker);
  const startedAt = world.time.now();
  const behaviour = readerBehaviour(world, mood, reviewOf(request, mood, isContent));
  const takesMs = mood === "late" ? timeoutMs + 60_000 : behaviour.takesMs;
  const meddles = (): void => trial?.put("meddled", "1");
  const work = mood === "meddles" ? meddles : behaviour.work;
  const ending = await live(world, process, { ...behaviour, takesMs, work }, timeoutMs, signal);
  // A worker that comes back finds all that it left running, whatever is judged.
  if (process.alive && world.crew === null && facts.isJudged(iteration))
    world.violate(`iteration ${iteration} was judged while its reader still ran`);
  sweep(marker);
  // One that was killed says nothing, also after another one was asked.
  const isLast = world.lastReader.get(iteration) === marker;
  const isHeard = isLast && ending === behaviour.ending && behaviour.failure === null && mood !== "malformed";
  const known = world.agreements.findIndex((one) => one.iteration === iteration && one.by === "reader");
  if (known !== -1 && isLast) world.agreements.splice(known, 1);
  if (isHeard && isContent && mood !== "silent") world.agreements.push({ task, iteration, by: "reader" });
  const costUsd = world.lanes === null ? null : READING_USD;
  if (costUsd !== null) world.readings.set(iteration, costUsd);
  return {
    ...reportOf(behaviour, ending, world.time.now() - startedAt),
    usage: { ...UNKNOWN_USAGE, costUsd },
  };
}

function readerBehaviour(world: World, mood: ReaderMood, words: string): Behaviour {
  const read: Behaviour = {
    takesMs: world.random.between(500, 20_000),
    work: () => {},
    ending: { is: "exited", code: 0 },
    claim: { is: "none" },
    failure: null,
    words,
    cites: [],
    answers: [],
    leavesChild: world.random.chance(0.1),
  };
  const resetsAt = world.time.now() + world.random.between(1_000, 3_600_000);
  if (mood === "limited") return { ...read, failure: { class: "limit", message: "usage limit", resetsAt } };
  return mood === "gone" ? { ...read, failure: { class: "agent", message: "exit 1" } } : read;
}

function reviewOf({ prompt }: AgentRequest, mood: ReaderMood, isContent: boolean): string {
  if (mood === "malformed") return "I think that it is fine.";
  if (mood === "limited" || mood === "gone") return "";
  const [, list = ""] = /\n## Concerns\n[^\n]*\n((?:.*\n)*?)\n## /.exec(prompt) ?? [];
  const numbers = mood === "silent" ? [] : [...list.matchAll(/^(\d+)\. /gm)].map(([, number]) => number);
  const answer = { criterion: 1, answer: isContent ? "met" : "not_met", reason: "I looked" };
  const concerns = numbers.map((number) => ({
    concern: Number(number),
    answer: isContent ? "harmless" : "real",
    reason: "I looked",
  }));
  return `<review>${JSON.stringify({ criteria: [answer], concerns })}</review>`;
}
