import { statusOf } from "../core/loop/task-status.ts";
import type { State } from "../core/state.ts";
import type { Settings } from "../core/settings.ts";
import { runEngine, startRun } from "../engine/engine.ts";
import { Journal } from "../engine/journal.ts";
import type { Clock, Log } from "../engine/ports.ts";
import { settingsFor, type Variant } from "./features.ts";
import { imaginedPorts } from "./imagined-ports.ts";
import { ImaginedWorld } from "./imagined-world.ts";
import { measure, type Measures } from "./measures.ts";
import type { Numbers } from "./parameters.ts";

interface Play {
  readonly seed: number;
  readonly variant: Variant;
  readonly numbers: Numbers;
  /** What holds where no feature says otherwise. */
  readonly defaults: Settings;
  /** The most that all runs together may have. */
  readonly iterations: number;
}

/** The operator comes back so many times, and starts the run once more while there is something to do. */
const RUNS = 3;
const NIGHT_MS = 12 * 60 * 60_000;
/** Nobody else writes into the log, so nothing is gained by looking sooner. */
const TICK_MS = 24 * 60 * 60_000;
const TIMERS_MAX = 1_000_000;

export type OpenLog = (clock: Clock) => Log;

/** One project from its first iteration to its last, by the real loop. */
export async function playWorld(play: Play, openLog: OpenLog): Promise<Measures> {
  const world = new ImaginedWorld(play.seed, play.numbers);
  const log = openLog(world.time);
  const state = await world.time.until(playRuns(world, log, play), TIMERS_MAX);
  const events = await log.read(0);
  return measure(world, events, (id) => statusOf(state, world.imagined(id).task));
}

async function playRuns(world: ImaginedWorld, log: Log, play: Play): Promise<State> {
  const journal = await Journal.open(log, [], () => world.time.now());
  for (let run = 0; run < RUNS; run += 1) {
    const left = play.iterations - world.truths.length;
    const settings = settingsFor(play.defaults, play.variant, left);
    await startRun(journal, settings, 1, "imagined", world.repository.head);
    await runEngine(imaginedPorts(world, log, settings, play.variant.features), journal, TICK_MS);
    const isOver = world.truths.length >= play.iterations || journal.state.run?.end?.outcome === "completed";
    if (isOver) break;
    await world.time.sleep(NIGHT_MS);
    await answerQuestions(world, journal);
  }
  return journal.state;
}

/** The operator looks at each claim that neither facts nor a reader settled, and sees what is so. */
async function answerQuestions(world: ImaginedWorld, journal: Journal): Promise<void> {
  for (const { id, question } of Object.values(journal.state.tasks)) {
    if (question === null || question.answer !== null) continue;
    const answer = world.isDone(id) ? "accept" : "reject: the test is right as it was";
    await journal.record({ type: "question.answered", task: id, answer, by: "person" });
  }
}
