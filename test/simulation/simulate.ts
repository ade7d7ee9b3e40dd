import { MemoryLog, MemoryStorage } from "../../src/adapters/store/memory-log.ts";
import { RalphError } from "../../src/core/errors.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import { isOpen, type State } from "../../src/core/state.ts";
import type { Outcome, Recorded } from "../../src/core/events.ts";
import type { Settings } from "../../src/core/settings.ts";
import { runEngine, recover, startRun } from "../../src/engine/engine.ts";
import { Journal } from "../../src/engine/journal.ts";
import type { Log, Ports } from "../../src/engine/ports.ts";
import type { Files } from "./branches.ts";
import { CrashPlaces, Life, type CrashPoint, type CrashSites } from "./crashing.ts";
import { DurableFacts } from "./durable-facts.ts";
import { checkBetweenRuns, checkHistory } from "./invariants.ts";
import { Random } from "../../src/eval/random.ts";
import { checkLanes } from "./lane-invariants.ts";
import { schedulePerson } from "./lane-operator.ts";
import { createLaneWorld, hasLanes } from "./lane-worlds.ts";
import { operatorActs, scheduleMessages, scheduleOperator } from "./operator.ts";
import { simulatedPorts } from "./simulated-ports.ts";
import { SimulatedViews, ViewFiles } from "./simulated-views.ts";
import { VirtualTime } from "../../src/eval/virtual-time.ts";
import { logInWeather, weatherFor } from "./weather.ts";
import { checkStoriesAtEnd } from "./story-invariants.ts";
import { createWorld, hasGates, settingsFor, storyRulesFor } from "./worlds.ts";
import type { Character, World } from "./world.ts";

/** A bug planted on purpose: it changes what one process of ours is made of. */
export interface Mutant {
  readonly name: string;
  readonly ports?: (ports: Ports, world: World) => Ports;
  readonly settings?: (settings: Settings) => Settings;
  readonly ignoresLock?: boolean;
  /** The agents that make it show; without them, all. */
  readonly characters?: readonly Character[];
  /** It shows only where stories are reviewed. */
  readonly stories?: boolean;
  /** It shows only where tasks are worked on side by side. */
  readonly lanes?: boolean;
  /** The seed from which on it shows soon. */
  readonly from?: number;
}

export interface Scenario {
  readonly seed: number;
  /** One entry for each process in turn; those after the last one live to their end. */
  readonly crashes?: readonly (CrashPoint | null)[];
  readonly sites?: CrashSites;
  readonly mutant?: Mutant;
}

export interface Result {
  readonly violations: readonly string[];
  /** Places of the first process at which it could have crashed. */
  readonly crashSites: number;
  readonly outcome: Outcome | null;
  readonly iterations: number;
  readonly events: readonly Recorded[];
  /** What the user's branch has in the end. */
  readonly files: Files;
}

const PROCESSES_MAX = 25;
const TIMERS_MAX = 20_000;
/** Rare ticks: in the simulation everybody who appends says so. */
const TICK_MS = 600_000;
/** Beside others a person may cancel a task while its agent works. */
const LANE_TICK_MS = 20_000;
const STEP_MS_MAX = 300;

/** Runs one seeded world to its rest, through the given crashes, and says what was not as it must be. */
export async function simulate(scenario: Scenario): Promise<Result> {
  const time = new VirtualTime();
  const random = new Random(scenario.seed);
  const { world, settings } = worldOf(scenario, random, time);
  world.weather = weatherFor(scenario.seed, time);
  const session = new Session(scenario, world, settings, random.chance(0.3));
  try {
    await session.runToRest();
  } catch (error) {
    world.violate(error instanceof Error ? error.message : String(error));
  }
  checkHistory(world, session.facts, session.settings);
  if (world.lanes !== null) checkLanes(world, world.lanes, session.facts, session.outcome);
  return {
    violations: world.violations,
    crashSites: session.crashSites,
    outcome: session.outcome,
    iterations: world.runsOfIteration.size,
    events: session.facts.all,
    files: world.branches.files(world.repository.head),
  };
}

function worldOf(
  { seed, mutant }: Scenario,
  random: Random,
  time: VirtualTime,
): { readonly world: World; readonly settings: Settings } {
  const { characters, stories = false, lanes = hasLanes(seed) && !stories }: Partial<Mutant> = mutant ?? {};
  if (lanes) return createLaneWorld(random, time, characters);
  const rules = storyRulesFor(seed, stories);
  // Of stories each has to be reviewed, and of that gates know nothing.
  const isGated = rules !== null || characters !== undefined || hasGates(seed);
  const world = createWorld(random, time, rules, isGated, characters);
  return { world, settings: settingsFor(random, rules, isGated) };
}

class Session {
  readonly facts: DurableFacts;
  crashSites = 0;
  outcome: Outcome | null = null;
  readonly settings: Settings;
  readonly #scenario: Scenario;
  readonly #world: World;
  readonly #storage = new MemoryStorage();
  readonly #files = new ViewFiles();
  readonly #impatient: boolean;

  constructor(scenario: Scenario, world: World, settings: Settings, impatient: boolean) {
    this.#scenario = scenario;
    this.#world = world;
    this.settings = settings;
    this.#impatient = impatient;
    this.facts = new DurableFacts(this.#storage.shelf("").events);
  }

  async runToRest(): Promise<void> {
    const { time, lanes } = this.#world;
    for (let number = 0; number < PROCESSES_MAX; number += 1) {
      const { crashes, sites = "appends" } = this.#scenario;
      const places = new CrashPlaces(crashes?.[number] ?? null, sites);
      const life = new Life(places);
      if (number === 0) scheduleMessages(this.#world, this.#openLog());
      if (number === 0 && lanes !== null) schedulePerson(this.#world, lanes, this.#openLog());
      if (number === 0 && this.#impatient) scheduleOperator(this.#world, this.#openLog());
      const end = await time.until(Promise.race([this.#processOrRefusal(life), life.died]), TIMERS_MAX);
      if (number === 0) this.crashSites = places.calls;
      checkBetweenRuns(this.#world, this.facts.all);
      if (end === "died") continue;
      if (end === "no room") {
        await time.until(time.sleep(this.#world.weather.roomAt - time.elapsed()), TIMERS_MAX);
        continue;
      }
      this.outcome = end.run?.end?.outcome ?? null;
      if (this.outcome === "completed") return;
      if (!(await time.until(operatorActs(this.#world, this.outcome, this.#openLog()), TIMERS_MAX))) return;
    }
  }

  /** A full disk ends a run with a sentence; somebody makes room, and starts it again. */
  async #processOrRefusal(life: Life): Promise<State | "no room"> {
    try {
      return await this.#process(life);
    } catch (error) {
      if (error instanceof RalphError && error.code === "disk-full") return "no room";
      throw error;
    }
  }

  /** One `ralph run`, as the program does it: lock, replay, start or resume, loop. */
  async #process(life: Life): Promise<State> {
    const world = this.#world;
    const mutant = this.#scenario.mutant;
    const ports = this.#ports(life);
    await this.#lookAtSource(ports);
    const views = new SimulatedViews(this.#files, this.facts);
    const journal = await Journal.open(ports.log, [views], () => ports.clock.now());
    views.restore(journal.state);
    const ownLeftovers = isOpen(journal.state.run) && journal.state.iterations.length > 0;
    if (world.lanes === null && world.isDirty && !ownLeftovers)
      world.violate("the tree is dirty with our own leftovers, and a run would be refused");
    const settings = mutant?.settings?.(this.settings) ?? this.settings;
    await recover(ports, journal.state);
    await startRun(journal, settings, 1, "simulated", (await ports.workspace.snapshot()).head);
    if (mutant?.ignoresLock) void this.#rival(life).catch(() => {});
    const state = await runEngine(ports, journal, world.lanes === null ? TICK_MS : LANE_TICK_MS);
    // What a person says after its end is for the next run.
    const known = this.facts.all.filter(({ position }) => position <= state.position);
    if (JSON.stringify(state) !== JSON.stringify(evolveAll(known)))
      world.violate("the live state differs from the replayed one");
    checkStoriesAtEnd(world, state, this.settings);
    this.#files.check(world, this.facts);
    return state;
  }

  /** No run begins on a file that cannot be used; then a person takes back what the last agent made of it. */
  async #lookAtSource({ source }: Ports): Promise<void> {
    try {
      await source.observe();
    } catch (error) {
      if (this.#world.stories === null || !(error instanceof RalphError)) throw error;
      this.#world.stories.repair();
      this.#world.forgedIn.clear();
      await source.observe();
    }
  }

  /** A second process that the lock should have refused. */
  async #rival(life: Life): Promise<void> {
    const ports = this.#ports(life);
    const journal = await Journal.open(ports.log, [], () => ports.clock.now());
    await recover(ports, journal.state);
    await startRun(journal, this.settings, 2, "simulated", null);
    await runEngine(ports, journal, TICK_MS);
  }

  #ports(life: Life): Ports {
    const world = this.#world;
    const { time, random, lanes } = world;
    const step = (): Promise<void> => life.step(() => time.sleep(random.between(1, STEP_MS_MAX)));
    const log = logInWeather(this.#openLog(life), world.weather, life);
    const plain = simulatedPorts(world, this.facts, log, [], lanes === null ? undefined : step);
    return life.mortal(this.#scenario.mutant?.ports?.(plain, world) ?? plain);
  }

  /** Of a process of ours, or of a person. */
  #openLog(life?: Life): Log {
    const { time, random } = this.#world;
    const pause = async (): Promise<void> => {
      if (random.chance(0.1)) await time.sleep(random.between(1, 50));
    };
    return new MemoryLog({
      storage: this.#storage,
      now: () => time.now(),
      pause: life === undefined ? pause : () => life.wait(pause),
    });
  }
}
