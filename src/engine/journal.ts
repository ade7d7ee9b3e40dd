import type { Event, Recorded } from "../core/events.ts";
import { decide } from "../core/loop/decide.ts";
import type { Effect } from "../core/loop/effects.ts";
import { evolve, EVOLVE_VERSION, taskOf } from "../core/loop/evolve.ts";
import { taskState, type State } from "../core/state.ts";
import type { TaskId } from "../core/plan.ts";
import type { Instant } from "../core/time.ts";
import { latestState } from "./follow-log.ts";
import type { AppendDecided, Expectation, Follower, Log } from "./ports.ts";

const SNAPSHOT_EVERY = 200;

/** Whether an effect is this process's to perform; others share the run, perhaps. */
export type IsOurs = (effect: Effect, state: State) => boolean;

/** The log together with the state folded from it: the only way the engine reads or writes facts. */
export class Journal {
  readonly #log: Log;
  readonly #followers: readonly Follower[];
  readonly #now: () => Instant;
  readonly #isOurs: IsOurs;
  #state: State;
  #snapshotAt: number;
  #catchingUp: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};

  private constructor(
    log: Log,
    followers: readonly Follower[],
    now: () => Instant,
    isOurs: IsOurs,
    state: State,
  ) {
    this.#log = log;
    this.#followers = followers;
    this.#now = now;
    this.#isOurs = isOurs;
    this.#state = state;
    this.#snapshotAt = state.position;
  }

  /** Replays the log from the last usable snapshot; followers hear only of what comes afterwards. */
  static async open(
    log: Log,
    followers: readonly Follower[],
    now: () => Instant,
    isOurs: IsOurs = () => true,
  ): Promise<Journal> {
    return new Journal(log, followers, now, isOurs, await latestState(log));
  }

  get state(): State {
    return this.#state;
  }

  /** An observation: it is true whatever else happened meanwhile. What it decides, it decides with that in mind. */
  async record(...events: readonly Event[]): Promise<void> {
    const seen = this.#state;
    let meanwhile: readonly Recorded[] = [];
    const recorded = await this.#log.append(events, { since: seen.position }, (own, news) => {
      meanwhile = news;
      return this.#decisionsAfter(news.reduce(evolve, seen), own);
    });
    await this.#take([...meanwhile, ...(recorded ?? [])]);
  }

  /** A decision: appended only if the facts it was made from are still the latest. False: decide again. */
  async recordIfCurrent(events: readonly Event[], task: TaskId | null, seen: State): Promise<boolean> {
    const expected: Expectation =
      task === null
        ? { position: seen.position }
        : { task: { id: task, position: taskState(seen, task).position } };
    const recorded = await this.#log.append(events, expected);
    await this.#take(recorded ?? []);
    return recorded !== null;
  }

  /**
   * Admission: decides on the latest state and appends in the same breath, as often as somebody else comes
   * between. `null` from the decision gives up, and so do calls that are used up.
   */
  async admit(
    decideOn: (state: State) => readonly Event[] | null,
    calls?: Expectation["calls"],
  ): Promise<"admitted" | "refused" | "calls-exhausted"> {
    const appendDecided = this.#log.appendDecided?.bind(this.#log);
    if (appendDecided !== undefined) return this.#admitInTurn(appendDecided, decideOn, calls);
    for (;;) {
      await this.catchUp();
      const { position } = this.#state;
      const events = decideOn(this.#state);
      if (events === null) return "refused";
      const recorded = await this.#log.append(events, { position, ...(calls && { calls }) });
      await this.#take(recorded ?? []);
      if (recorded !== null) return "admitted";
      if (calls && (await this.#log.countCalls(calls.since)) >= calls.below) return "calls-exhausted";
    }
  }

  /** The same where many write: who waits for the others needs to decide only once. */
  async #admitInTurn(
    appendDecided: AppendDecided,
    decideOn: (state: State) => readonly Event[] | null,
    calls: Expectation["calls"],
  ): Promise<"admitted" | "refused" | "calls-exhausted"> {
    const seen = this.#state;
    let meanwhile: readonly Recorded[] = [];
    let isRefused = false;
    const decide = (news: readonly Recorded[]): readonly Event[] | null => {
      meanwhile = news;
      const events = decideOn(news.reduce(evolve, seen));
      isRefused = events === null;
      return events;
    };
    const recorded = await appendDecided(seen.position, decide, calls);
    await this.#take([...meanwhile, ...(recorded ?? [])]);
    return recorded !== null ? "admitted" : isRefused ? "refused" : "calls-exhausted";
  }

  /** Folds in what others have appended. Calls are served one after another, so facts are folded once. */
  catchUp(): Promise<void> {
    return this.#inTurn(async () => this.#fold(await this.#log.read(this.#state.position)));
  }

  /** Resolves when something is next recorded by this process. */
  nextRecord(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Folds in what this process appended; it is read back only when others' facts lie before it. */
  async #take(recorded: readonly Recorded[]): Promise<void> {
    await this.#inTurn(async () => {
      const { position } = this.#state;
      const [first] = recorded;
      const isGapless = first !== undefined && first.position <= position + 1;
      const news = isGapless ? recorded.filter((event) => event.position > position) : null;
      await this.#fold(news ?? (await this.#log.read(position)));
    });
    this.#wake();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    // A read that failed is its caller's trouble; the next one tries again.
    this.#catchingUp = this.#catchingUp.catch(() => {}).then(work);
    return this.#catchingUp;
  }

  /** What an observation decides at once about its task, and about the run, is appended in the same breath. */
  #decisionsAfter(seen: State, recorded: readonly Recorded[]): readonly Event[] {
    const state = recorded.reduce(evolve, seen);
    const { effects } = decide(state, this.#now());
    const tasks = [null, ...recorded.map(taskOf)];
    return effects.flatMap((effect) =>
      effect.kind === "record" && tasks.includes(effect.task) && this.#isOurs(effect, state)
        ? effect.events
        : [],
    );
  }

  async #fold(news: readonly Recorded[]): Promise<void> {
    for (const event of news) {
      this.#state = evolve(this.#state, event);
      for (const follower of this.#followers) await follower.follow(event, this.#state);
    }
    if (news.length > 0) for (const follower of this.#followers) await follower.settle?.(this.#state);
    if (this.#state.position - this.#snapshotAt >= SNAPSHOT_EVERY) {
      this.#snapshotAt = this.#state.position;
      await this.#log.saveSnapshot(this.#state, EVOLVE_VERSION);
    }
  }
}
