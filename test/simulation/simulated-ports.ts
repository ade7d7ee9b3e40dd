import { sessionFor } from "./sessions.ts";
import { PLAIN } from "../../src/core/agent-named.ts";
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
  Workspace,
} from "../../src/engine/ports.ts";
import { behave, reportOf, type Behaviour } from "./agent-behaviour.ts";
import type { DurableFacts } from "./durable-facts.ts";
import type { SimulatedRepository } from "./repository.ts";
import { simulatedSource } from "./simulated-source.ts";
import { checkStoryStart } from "./story-invariants.ts";
import { isSecret, type AgentProcess, type World } from "./world.ts";

export const GATE: GateSettings = {
  name: "tests",
  command: "tests",
  timeoutMs: 60_000,
  required: true,
  onMissing: "warn",
  cwd: null,
  env: {},
  kind: null,
  retries: 0,
  expect: { exitCode: 0, outputContains: null, outputNotContains: null },
  onBaseline: "require",
};

const COMMANDS = {
  agents: ["simulated", "simulated-2"].map((name) => ({
    name,
    ...PLAIN,
    format: "text" as const,
    command: [name],
    session: "resume" as const,
  })),
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
    beside: null,
    gates: simulatedGates(world),
    letters: simulatedLetters(world),
    notes: { read: () => Promise.resolve("") } satisfies Notes,
    clock: world.time,
    followers,
  };
}

function simulatedAgents(world: World, facts: DurableFacts): Agents {
  return {
    run: async (request, signal) => {
      checkStoryStart(world, request);
      checkStart(world, facts, request.iteration, request.task, request.prompt);
      world.prompts.set(request.iteration, request.prompt);
      const sessionId = sessionFor(world, request);
      const truth = world.truth(request.task);
      const behaviour = behave(world, truth, request);
      const process: AgentProcess = { marker: request.marker, iteration: request.iteration, alive: true };
      world.processes.push(process);
      const startedAt = world.time.now();
      const ending = await live(world, process, behaviour, request.timeoutMs, signal);
      sweep(world, request.marker);
      return { ...reportOf(behaviour, ending, world.time.now() - startedAt), sessionId };
    },
    send: (iteration, text) => {
      const isAlive = world.livingProcesses.some((process) => process.iteration === iteration);
      const listens = isAlive && world.random.chance(0.5);
      if (listens) world.told.set(iteration, `${world.told.get(iteration) ?? ""}\n${text}`);
      return Promise.resolve(listens);
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
  for (const id of world.truth(task).dependsOn) {
    if (!world.countsAsDone(id))
      world.violate(`${task} was begun before ${id}, which it depends on, was done`);
  }
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
  const { repository } = world;
  return {
    snapshot: () => Promise.resolve({ head: repository.head, branch: "main" }),
    hasWritten: ({ from, ignore }) =>
      Promise.resolve(
        repository.head !== from.head || repository.uncommitted().some((name) => !ignore.includes(name)),
      ),
    collect: (request) =>
      Promise.resolve({ ...collect(repository, request), weakened: weakenedIn(world, request) }),
    commitMark: ({ path }) => {
      const before = repository.head;
      repository.commit((name) => name === path);
      return Promise.resolve(repository.head === before ? null : repository.head);
    },
    lookAhead: () => {},
    beforeGates: () => Promise.resolve(0),
    leftoversAfterGates: (before) => Promise.resolve(before),
    clearLeftovers: () => Promise.resolve(),
  };
}

function collect(repository: SimulatedRepository, request: CollectRequest): Evidence {
  const isCounted = (name: string): boolean => !request.ignore.includes(name);
  const putBack = putBackProtected(repository, request);
  if (request.commit === "ralph") repository.commit((name) => isCounted(name) && !isSecret(name));
  const uncommitted = repository
    .uncommitted()
    .filter(isCounted)
    .map((path) => ({ path, look: String(repository.version(path)) }));
  const changes = (from: string | null, leftBefore: readonly Leftover[]): ChangeSet => {
    const known = new Map(leftBefore.map(({ path, look }) => [path, look]));
    const fresh = uncommitted.filter(({ path, look }) => known.get(path) !== look).map(({ path }) => path);
    const paths = [...new Set([...repository.changedSince(from).filter(isCounted), ...fresh])];
    return { files: paths.length, paths };
  };
  const changed = changes(request.from.head, request.leftBefore);
  const inRow = changes(request.taskBase, request.leftBeforeTask);
  const standing = repository.changedSince(request.earlier.from);
  const earlier = request.earlier.paths.filter((path) => standing.includes(path));
  const inTask = [...new Set([...inRow.paths, ...earlier])];
  const changedSinceTaskBegan = { files: inTask.length, paths: inTask };
  const written = new Set([
    ...changed.paths,
    ...changedSinceTaskBegan.paths,
    ...request.earlier.paths,
    ...putBack,
  ]);
  return {
    headBefore: request.from.head,
    headAfter: repository.head,
    changed,
    changedSinceTaskBegan,
    uncommitted,
    leftByGates: [],
    leftOut: [],
    strayedTo: null,
    marksTakenBack: [],
    tasksRemoved: [],
    phantoms: phantomsOf(request, (path) => isCounted(path) && !written.has(path)),
    putBack,
    changedDefinitions: [],
    weakened: [],
    refusal: null,
  };
}

function weakenedIn(world: World, { task }: CollectRequest): Evidence["weakened"] {
  const isWeakened = world.tasks.find(({ id }) => id === task)?.weakened === true;
  return isWeakened ? [{ path: `${task}.test`, kind: "skipped", what: "a test is skipped now" }] : [];
}

/** As they were when the iteration began; answers the same when it is asked again after a crash. */
function putBackProtected(repository: SimulatedRepository, request: CollectRequest): readonly string[] {
  const known = repository.putBack.get(`${request.run} ${request.iteration}`) ?? [];
  const differing = [...repository.changedSince(request.from.head), ...repository.uncommitted()];
  const found = differing.filter((name) => request.isProtected(name) && !request.ignore.includes(name));
  for (const name of found) repository.write(name, repository.versionAt(request.from.head, name));
  repository.commit((name) => found.includes(name));
  const putBack = [...new Set([...known, ...found])];
  repository.putBack.set(`${request.run} ${request.iteration}`, putBack);
  return putBack;
}

function simulatedGates(world: World): Gates {
  return {
    check: async (gates, _marker, signal) => {
      await world.time.sleep(world.random.between(100, 2_000), signal);
      const red = world.tasks.some((task) => task.red && !task.weakened);
      return gates.map((gate) => ({
        name: gate.name,
        required: true,
        onMissing: "warn" as const,
        status: red ? ("failed" as const) : ("passed" as const),
        exitCode: red ? 1 : 0,
        durationMs: 1,
        tail: red ? "1 test failed" : "",
        tries: 1,
        unmet: null,
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

function phantomsOf({ cited, written }: CollectRequest, isPhantom: (path: string) => boolean): string[] {
  const isAllGone = written.length > 0 && written.every(isPhantom);
  return [...cited, ...(isAllGone ? written : [])].filter(isPhantom);
}
