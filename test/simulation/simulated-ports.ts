import type { AgentReport, Ending } from "../../src/core/report/agent-report.ts";
import { UNKNOWN_USAGE } from "../../src/core/report/agent-report.ts";
import type { ChangeSet, Evidence, Leftover } from "../../src/core/report/evidence.ts";
import type { GateSettings } from "../../src/core/settings.ts";
import type {
  Agents,
  CollectRequest,
  Follower,
  Gates,
  Letters,
  Log,
  Notes,
  Ports,
  TaskSource,
  Workspace,
} from "../../src/engine/ports.ts";
import { behave, reportOf, type Behaviour } from "./agent-behaviour.ts";
import type { DurableFacts } from "./durable-facts.ts";
import type { AgentProcess, World } from "./world.ts";

export const GATE: GateSettings = {
  name: "tests",
  command: "tests",
  timeoutMs: 60_000,
  required: true,
  onMissing: "warn",
  cwd: null,
  env: {},
};

export const SOURCE = { kind: "checklist", label: "TODO.md", path: "TODO.md" } as const;

const COMMANDS = {
  agents: [{ name: "simulated", command: ["simulated"], env: {}, envDeny: [] }],
  gates: [GATE],
};

/** The real engine's ports, with the simulated world behind them. */
export function simulatedPorts(
  world: World,
  facts: DurableFacts,
  log: Log,
  followers: readonly Follower[],
): Ports {
  return {
    log,
    commands: COMMANDS,
    source: simulatedSource(world, facts),
    agents: simulatedAgents(world, facts),
    workspace: simulatedWorkspace(world),
    gates: simulatedGates(world),
    letters: simulatedLetters(world),
    notes: { read: () => Promise.resolve("") } satisfies Notes,
    clock: world.time,
    followers,
  };
}

function simulatedSource(world: World, facts: DurableFacts): TaskSource {
  return {
    identity: SOURCE,
    observe: () => Promise.resolve({ source: SOURCE, tasks: world.plan() }),
    mark: (id) => {
      if (!facts.has("task.completed", id))
        world.violate(`${id} was marked before its completion was recorded`);
      if (!world.isTrulyDone(id)) world.violate(`${id} was marked done, and is not`);
      world.truth(id).ticked = true;
      return Promise.resolve();
    },
    takeBackMarks: (done) => {
      const wrong = world.tasks.filter((task) => task.ticked && !done.has(task.id));
      for (const task of wrong) task.ticked = false;
      return Promise.resolve(wrong.map((task) => task.id));
    },
  };
}

function simulatedAgents(world: World, facts: DurableFacts): Agents {
  return {
    run: async (request, signal) => {
      checkStart(world, facts, request.iteration, request.task, request.prompt);
      const truth = world.truth(request.task);
      const behaviour = behave(world, truth, request);
      const process: AgentProcess = { marker: request.marker, iteration: request.iteration, alive: true };
      world.processes.push(process);
      const startedAt = world.time.now();
      const ending = await live(world, process, behaviour, request.timeoutMs, signal);
      sweep(world, request.marker);
      return reportOf(behaviour, ending, world.time.now() - startedAt);
    },
    sweep: (marker) => Promise.resolve(sweep(world, marker)),
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

function checkStart(
  world: World,
  facts: DurableFacts,
  iteration: number,
  task: string,
  prompt: string,
): void {
  if (world.livingProcesses.length > 0)
    world.violate(`iteration ${iteration} began while another agent was alive`);
  if (world.isDirty) world.violate(`iteration ${iteration} began on changes that are not its own`);
  if (!facts.started(iteration))
    world.violate(`iteration ${iteration} ran before it was recorded as started`);
  const runs = (world.runsOfIteration.get(iteration) ?? 0) + 1;
  world.runsOfIteration.set(iteration, runs);
  if (runs > 1) world.violate(`the number ${iteration} was used for ${runs} agent processes`);
  const rejected = facts.lastVerdict(task) === "rejected";
  if (rejected && !prompt.includes("DO NOT IGNORE"))
    world.violate(`${task} was not told why it was rejected`);
  if (facts.has("task.completed", task)) world.violate(`${task} was worked on after it was accepted`);
}

/** Lives through one process: half the time, the work, the other half. It goes on without its engine. */
async function live(
  world: World,
  process: AgentProcess,
  behaviour: Behaviour,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ending> {
  world.time.at(world.time.now() + behaviour.takesMs / 2, () => process.alive && behaviour.work());
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

function sweep(world: World, marker: string): number {
  const left = world.livingProcesses.filter((process) => process.marker === marker);
  for (const process of left) process.alive = false;
  return left.length;
}

function simulatedWorkspace(world: World): Workspace {
  return {
    snapshot: () => Promise.resolve({ head: String(world.head), branch: "main" }),
    collect: (request) => Promise.resolve(collect(world, request)),
    commitMark: () => Promise.resolve(null),
    leftoversAfterGates: (byAgents) => Promise.resolve({ byAgents, byGates: [] }),
    clearLeftovers: () => Promise.resolve(),
  };
}

function collect(world: World, request: CollectRequest): Evidence {
  if (world.isDirty) world.commitAll();
  return {
    headBefore: request.from.head,
    headAfter: String(world.head),
    changed: changes(world, request.from.head, request.leftBefore),
    changedSinceTaskBegan: changes(world, request.taskBase, request.leftBeforeTask),
    uncommitted: secretsIn(world),
    leftOut: [],
    strayedTo: null,
    marksTakenBack: [],
  };
}

function changes(world: World, from: string | null, leftBefore: readonly Leftover[]): ChangeSet {
  const known = new Map(leftBefore.map(({ path, look }) => [path, look]));
  const fresh = secretsIn(world).filter(({ path, look }) => known.get(path) !== look);
  const paths = [...world.diff(Number(from ?? 0), world.head), ...fresh.map(({ path }) => path)];
  return { files: paths.length, paths };
}

function secretsIn(world: World): readonly Leftover[] {
  return Array.from(world.secrets, ([path, look]) => ({ path, look }));
}

function simulatedGates(world: World): Gates {
  return {
    check: async (gates, _marker, signal) => {
      await world.time.sleep(world.random.between(100, 2_000), signal);
      const red = world.tasks.some((task) => task.red);
      return gates.map((gate) => ({
        name: gate.name,
        required: true,
        onMissing: "warn" as const,
        status: red ? ("failed" as const) : ("passed" as const),
        exitCode: red ? 1 : 0,
        durationMs: 1,
        tail: red ? "1 test failed" : "",
      }));
    },
  };
}

function simulatedLetters(world: World): Letters {
  return {
    publish: (file, text) => {
      world.letters.set(file, text);
      return Promise.resolve(text);
    },
    read: (file) => {
      const text = world.letters.get(file);
      return Promise.resolve(text === undefined ? null : { text, sha256: text });
    },
    withdraw: (file) => {
      world.letters.delete(file);
      return Promise.resolve();
    },
  };
}
