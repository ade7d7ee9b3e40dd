import { MemoryLog, MemoryStorage } from "../../src/adapters/store/memory-log.ts";
import { decide, restOf } from "../../src/core/loop/decide.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import { EMPTY_STATE, isOpen, type State } from "../../src/core/state.ts";
import type { Log } from "../../src/engine/ports.ts";
import { CrashPlaces, Life } from "./crashing.ts";
import { DurableFacts } from "./durable-facts.ts";
import { Random } from "../../src/eval/random.ts";
import type { Result, Scenario } from "./simulate.ts";
import { VirtualTime } from "../../src/eval/virtual-time.ts";
import { scheduleFaults } from "./worker-faults.ts";
import { checkWorkers } from "./worker-invariants.ts";
import type { WorkerMutant } from "./worker-mutants.ts";
import { personComes, schedulePeople, submitTasks } from "./worker-operator.ts";
import { until, workerProcess } from "./worker-process.ts";
import type { Machine } from "./worker-truth.ts";
import { LeftoverWatch } from "./leftover-watch.ts";
import { createWorkerWorld, type WorkerWorld } from "./worker-worlds.ts";

export interface WorkerScenario extends Omit<Scenario, "mutant"> {
  readonly mutant?: WorkerMutant;
}

const TIMERS_MAX = 400_000;
const LOOK_MS = 2_000;
/** Longer than any agent, lease, pause or wait between two facts. */
const STALLED_MS = 400_000;
const ROUNDS_MAX = 12;
const LEAVING_MS_MAX = 180_000;

/** Runs one seeded world of workers to its rest, and says what was not as it must be. */
export async function simulateWorkers(scenario: WorkerScenario): Promise<Result> {
  const time = new VirtualTime();
  const around = createWorkerWorld(new Random(scenario.seed), time, scenario.mutant?.characters);
  const { world } = around;
  const team = new Team(scenario, around);
  try {
    await time.until(team.work(), TIMERS_MAX);
  } catch (error) {
    world.violate(error instanceof Error ? error.message : String(error));
  }
  checkWorkers(around, team.facts, team.states);
  const end = evolveAll(team.facts.all);
  return {
    violations: world.violations,
    crashSites: team.places.calls,
    outcome: restOf(end, time.now())?.outcome ?? null,
    iterations: world.runsOfIteration.size,
    events: team.facts.all,
    files: world.branches.files(world.branches.tip("main")),
  };
}

class Team {
  readonly facts: DurableFacts;
  readonly places: CrashPlaces;
  /** As each worker last knew it. */
  readonly states = new Map<string, State>();
  readonly #scenario: WorkerScenario;
  readonly #around: WorkerWorld;
  readonly #storage = new MemoryStorage();
  readonly #log: Log;
  readonly #running = new Set<Promise<void>>();
  readonly #watch: LeftoverWatch;
  #state = EMPTY_STATE;
  #isOver = false;

  constructor(scenario: WorkerScenario, around: WorkerWorld) {
    this.#scenario = scenario;
    this.#around = around;
    this.#watch = new LeftoverWatch(around);
    this.places = new CrashPlaces(scenario.crashes?.[0] ?? null, scenario.sites ?? "appends");
    this.facts = new DurableFacts(this.#storage.shelf("").events);
    const { time } = around.world;
    const pause = (): Promise<void> => until(around, () => around.crew.databaseAwayUntil);
    this.#log = new MemoryLog({ storage: this.#storage, now: () => time.now(), pause });
  }

  async work(): Promise<void> {
    const { world, crew } = this.#around;
    const { time, random } = world;
    scheduleFaults(this.#around);
    schedulePeople(this.#around, this.#log);
    for (const machine of crew.machines) this.#keepWorking(machine, random.between(0, 20_000));
    await time.sleep(random.between(0, 10_000));
    await submitTasks(this.#around, this.#log);
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      if (!(await this.#comesToRest())) break;
      if (!(await personComes(this.#around, this.#log))) break;
    }
    await this.#allLeave();
  }

  /** Until nobody could do anything; false when nobody does though somebody could. */
  async #comesToRest(): Promise<boolean> {
    const { world, crew } = this.#around;
    const { time } = world;
    for (;;) {
      await time.sleep(LOOK_MS);
      const now = time.now();
      const state = this.#latest();
      this.#watch.look(state);
      const isQuiet = now > crew.faultsUntil;
      if (isQuiet && (!isOpen(state.run) || restOf(state, now) !== null)) return true;
      const wakeAt = Math.max(decide(state, now).wakeAt ?? 0, state.run?.waitingUntil ?? 0);
      const last = this.facts.all.at(-1)?.at ?? 0;
      if (now < Math.max(last, crew.faultsUntil, crew.actedAt, wakeAt) + STALLED_MS) continue;
      const wanted = decide(state, now).effects.map(({ key }) => key);
      world.violate(`nothing happens any more, and somebody should do: ${wanted.join(", ")}`);
      return false;
    }
  }

  #latest(): State {
    this.#state = evolveAll(this.facts.all.slice(this.#state.position), this.#state);
    return this.#state;
  }

  /** A worker of a machine, and the next one after it, as long as the machine is used. */
  #keepWorking(machine: Machine, afterMs: number): void {
    const { world, crew } = this.#around;
    const { time, random } = world;
    time.at(time.now() + afterMs, () => {
      if (this.#isOver) return;
      const life = new Life(this.places, () => until(this.#around, () => machine.frozenUntil));
      machine.life = life;
      machine.begunAt = time.now();
      machine.stop = new AbortController();
      const running = this.#live(machine, life).finally(() => {
        this.#running.delete(running);
        if (machine.life === life) machine.life = null;
        const comesBack = machine === crew.machines[0] || random.chance(0.6);
        if (comesBack) this.#keepWorking(machine, random.between(100, 2 * crew.leaseMs));
      });
      this.#running.add(running);
    });
  }

  async #live(machine: Machine, life: Life): Promise<void> {
    const { world, crew } = this.#around;
    const process = workerProcess({
      around: this.#around,
      machine,
      life,
      storage: this.#storage,
      facts: this.facts,
      mutant: this.#scenario.mutant,
      onState: (state) => this.states.set(machine.id, state),
    });
    try {
      if ((await Promise.race([process, life.died])) === "died")
        crew.killed.push({ worker: machine.id, at: world.time.now() });
    } catch (error) {
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      world.violate(`the worker ${machine.id} failed: ${what}`);
    }
  }

  /** Everybody is asked to leave, and does so soon. */
  async #allLeave(): Promise<void> {
    const { world, crew } = this.#around;
    this.#isOver = true;
    for (const { stop } of crew.machines) stop.abort();
    const patience = new AbortController();
    const gone = Promise.all(this.#running).then(() => "gone" as const);
    const left = await Promise.race([gone, world.time.sleep(LEAVING_MS_MAX, patience.signal)]);
    patience.abort();
    if (left !== "gone") world.violate("a worker was asked to leave, and is still there");
  }
}
