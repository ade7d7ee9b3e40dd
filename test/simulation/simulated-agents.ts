import type { AgentReport, Ending } from "../../src/core/report/agent-report.ts";
import { UNKNOWN_USAGE } from "../../src/core/report/agent-report.ts";
import type { Agents } from "../../src/engine/ports.ts";
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
      checkStoryStart(world, request);
      checkStart(world, facts, request);
      world.prompts.set(request.iteration, request.prompt);
      const sessionId = sessionFor(world, request);
      const truth = world.truth(request.task);
      const behaviour = behave(world, truth, request);
      const { marker, iteration, root } = request;
      const process: AgentProcess = { marker, iteration, root, alive: true };
      world.processes.push(process);
      const startedAt = world.time.now();
      const ending = await live(world, process, behaviour, request.timeoutMs, signal);
      sweep(request.marker);
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
