import type { Event, Recorded } from "../../src/core/events.ts";
import { wasElsewhere } from "../../src/core/loop/evolve-work.ts";
import type { State } from "../../src/core/state.ts";
import { submittedSource } from "../../src/adapters/tasks/redacting-source.ts";
import { MemoryLog, type MemoryStorage } from "../../src/adapters/store/memory-log.ts";
import type { Fleet, SharedLog } from "../../src/engine/fleet-ports.ts";
import type { Agents, Clock, Ports } from "../../src/engine/ports.ts";
import { fencedLog, Holdings } from "../../src/engine/worker/holdings.ts";
import { runWorker, type WorkerRun, SharedClock } from "../../src/engine/worker/run-worker.ts";
import type { Life } from "./crashing.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { simulatedAgents } from "./simulated-agents.ts";
import { simulatedClone } from "./simulated-clone.ts";
import { SimulatedFence } from "./simulated-fence.ts";
import { openSimulatedFleet } from "./simulated-fleet.ts";
import { simulatedPorts } from "./simulated-ports.ts";
import { simulatedSource } from "./simulated-source.ts";
import type { WorkerMutant } from "./worker-mutants.ts";
import { forwarding } from "./mutant-log.ts";
import { killWorker, type Author, type Machine } from "./worker-truth.ts";
import type { WorkerWorld } from "./worker-worlds.ts";

export interface ProcessParts {
  readonly around: WorkerWorld;
  readonly machine: Machine;
  readonly life: Life;
  readonly storage: MemoryStorage;
  readonly facts: DurableFacts;
  readonly mutant: WorkerMutant | undefined;
  readonly onState: (state: State) => void;
}

const STEP_MS_MAX = 300;
/** Rare: in the simulation everybody who appends says so. */
const TICK_MS = 5_000;

/** One `ralph worker`, as the program does it. */
export async function workerProcess(parts: ProcessParts): Promise<"drained" | "stopped"> {
  const { around, machine, life, mutant } = parts;
  const { crew } = around;
  const elapsed = elapsedOn(parts);
  const holdings = mutant?.holdings?.(crew.leaseMs, elapsed) ?? new Holdings(crew.leaseMs, elapsed);
  const fleet = await fleetFor(parts);
  const shared = logFor(parts);
  const log = life.aroundLog(fencedLog(shared, holdings, machine.id));
  const clock = new SharedClock(ownClock(parts), elapsed);
  const run: WorkerRun = {
    id: machine.id,
    lanes: machine.lanes,
    labels: machine.labels,
    merges: machine.merges,
    drains: false,
    leaseMs: crew.leaseMs,
    tickMs: TICK_MS,
    log,
    fleet,
    holdings,
    clock,
    endLeftovers: async () => {
      if (mutant?.leavesAgents === true) return;
      for (const process of around.world.livingProcesses)
        if (machine.has(process.root)) process.alive = false;
    },
    followers: [
      {
        follow: async (event, state) => {
          parts.onState(state);
          if (event.type === "worktree.removed") tidy(parts, event.task);
        },
      },
    ],
    portsFor: (state) => ({ ...life.mortal(portsFor(parts, state, log, holdings)), log, clock }),
    progress: () => [],
    onTrouble: () => {},
    onHealth: () => {},
  };
  return runWorker(run, machine.stop.signal);
}

function portsFor(parts: ProcessParts, state: () => State, log: Ports["log"], holdings: Holdings): Ports {
  const { around, machine, facts, mutant } = parts;
  const { world, crew } = around;
  const step = (): Promise<void> => gitStep(parts);
  const numberOf = (name: string): number | null => holdings.get(name)?.number ?? null;
  const isFenced = mutant?.ignoresFence !== true;
  const fence = new SimulatedFence({ world, crew, machine, numberOf, step, isFenced });
  const agents = simulatedAgents(world, facts, (process) => machine.has(process.root));
  const isStale = (task: string): boolean => wasElsewhere(state(), task, machine.id);
  const ports: Ports = {
    ...simulatedPorts(world, facts, log, []),
    worker: machine.id,
    source: submittedSource(
      () => {
        const { run, plan } = state();
        return run === null || plan === null ? null : { identity: run.settings.source, plan };
      },
      () => simulatedSource(world, facts),
    ),
    agents: { ...agents, run: deadly(parts, agents) },
    parallel: simulatedClone({ ...around, machine, fence, step, facts, isStale }),
  };
  return mutant?.ports?.(ports, around, machine) ?? ports;
}

/** Some agents take the worker with them. */
function deadly({ around, machine, life }: ProcessParts, agents: Agents): Agents["run"] {
  const { world, crew } = around;
  return (request, signal) => {
    if (crew.deadly.has(request.task))
      world.time.at(world.time.now() + 500, () => {
        if (machine.life === life) killWorker(world, machine, { withAgents: true });
      });
    return agents.run(request, signal);
  };
}

/** What this clone has of a task whose work is on the base. */
function tidy({ around, machine }: ProcessParts, task: string): void {
  const { world, lanes } = around;
  const root = machine.rootOf(task);
  const worktree = lanes.worktrees.get(root);
  if (worktree === undefined || worktree.uncommitted().length > 0) return;
  if (world.livingProcesses.some((process) => process.root === root)) return;
  lanes.worktrees.delete(root);
  lanes.setUp.delete(root);
  const { branch, head } = worktree;
  world.branches.move(machine.local(`aside/${task}/${head}`), head);
  world.branches.move(branch, null);
}

async function fleetFor(parts: ProcessParts): Promise<Fleet> {
  const { around, machine, life, mutant } = parts;
  const { world, crew } = around;
  const options = {
    storage: crew.fleet,
    worker: { id: machine.id, labels: machine.labels },
    leaseMs: crew.leaseMs,
    now: () => world.time.now(),
    pause: () => databasePause(parts),
  };
  const joined = await openSimulatedFleet(options);
  const fleet = mutant?.fleet?.(joined, around, machine) ?? joined;
  return life.around(fleet);
}

/** The log of the database, with the author of everything. */
function logFor(parts: ProcessParts): SharedLog {
  const { around, machine, storage, mutant } = parts;
  const { world, crew } = around;
  const plain = new MemoryLog({
    storage,
    now: () => world.time.now(),
    isLast: (lease) => crew.fleet.isLast(lease),
    pause: () => databasePause(parts),
  });
  const log = mutant?.log?.(plain, around, machine) ?? plain;
  const sign = (recorded: readonly Recorded[] | null, leases: Author["leases"]): typeof recorded => {
    for (const { position } of recorded ?? []) crew.authors.set(position, { worker: machine.id, leases });
    return recorded;
  };
  const forward = {
    append: async (...[events, expected, following]: Parameters<SharedLog["append"]>) =>
      sign(await log.append(events, expected, following), expected?.leases ?? []),
    appendDecided: async (
      ...[after, decide, calls, leasesFor = () => []]: Parameters<NonNullable<SharedLog["appendDecided"]>>
    ) => {
      let leases: Author["leases"] = [];
      const noted = (events: readonly Event[]): Author["leases"] => (leases = leasesFor(events));
      return sign((await log.appendDecided?.(after, decide, calls, noted)) ?? null, leases);
    },
  };
  return forwarding(log, forward);
}

/** Monotonic, a little too fast or slow; it goes on while the process is stopped. */
function elapsedOn({ around, machine }: ProcessParts): () => number {
  const { time } = around.world;
  return () => (time.now() - machine.begunAt) * machine.clock.rate + 1_000;
}

function ownClock({ around, machine, life }: ProcessParts): Clock {
  const { time } = around.world;
  return {
    now: () => time.now() + machine.clock.aheadMs,
    sleep: (ms, signal) => life.wait(() => time.sleep(ms, signal)),
  };
}

/** Whatever is asked of a database that is away waits until it is back. */
function databasePause({ around, machine, life }: ProcessParts): Promise<void> {
  const { world, crew } = around;
  const { time, random } = world;
  return life.wait(async () => {
    machine.freezeIn("database", time.now());
    if (random.chance(0.1)) await time.sleep(random.between(1, 50));
    await until(around, () => Math.max(crew.databaseAwayUntil, machine.noDatabaseUntil));
  });
}

function gitStep({ around, machine, life }: ProcessParts): Promise<void> {
  const { time, random } = around.world;
  return life.step(async () => {
    machine.freezeIn("git", time.now());
    await time.sleep(random.between(1, STEP_MS_MAX));
    await until(around, () => machine.noRemoteUntil);
  });
}

/** The moment may be put off meanwhile. */
export async function until({ world }: WorkerWorld, moment: () => number): Promise<void> {
  const { time } = world;
  while (time.now() < moment()) await time.sleep(moment() - time.now());
}
