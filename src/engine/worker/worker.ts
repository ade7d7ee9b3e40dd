import { agentNow } from "../../core/loop/stages.ts";
import { decide } from "../../core/loop/decide.ts";
import {
  COORDINATOR,
  MERGER,
  ownerOf,
  type Role,
  type Effect,
  type PerformableEffect,
} from "../../core/loop/effects.ts";
import { isHeldBy } from "../../core/loop/evolve-work.ts";
import { isOpen, taskState, markersOf, type State } from "../../core/state.ts";
import { isCancelled } from "../../core/loop/task-status.ts";
import type { Instant } from "../../core/time.ts";
import type { Lease, Offer } from "../fleet-ports.ts";
import { InFlight, OVER, waitForNews } from "../engine.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";
import { isLeaseLost } from "./holdings.ts";
import type { WorkerRun } from "./run-worker.ts";
import { RalphError, withHint } from "../../core/errors.ts";
import type { Task, TaskId } from "../../core/plan.ts";
import type { Event } from "../../core/events.ts";

export interface WorkerParts extends Pick<
  WorkerRun,
  "id" | "lanes" | "labels" | "merges" | "drains" | "fleet" | "holdings" | "clock" | "onTrouble"
> {
  readonly ports: Ports;
  readonly journal: Journal;
  readonly bell: Bell;
  /** How often the clock, others' facts and offers are looked at while nobody rings. */
  readonly tickMs: number;
}

/** How often it asks for parts that others may have. */
const ROLES_MS = 2_000;

/** Takes tasks and goes on with each while it can, beside others that do the same, until it is asked to stop. */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #inFlight: InFlight;
  readonly #abandonments: Abandonments;
  readonly #takingUp = new Map<string, AbortController>();
  /** Whose each effect was when it began, by key: by the time it ends its iteration may be closed. */
  readonly #owners = new Map<string, string>();
  #isStopping = false;
  /** When it last made all offers known, and which ones there were at the last look. */
  #offered: { readonly at: Instant; readonly keys: ReadonlySet<string> } = { at: -Infinity, keys: new Set() };
  /** When it last asked for parts. */
  #askedAt = -Infinity;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#abandonments = new Abandonments(parts);
    this.#inFlight = new InFlight(parts.ports, parts.journal, {
      isUrgent: (effect) => this.#isLost(effect) || this.#isCancelled(effect),
      isHandled: (effect, error) => this.#abandonments.takesCareOf(this.#ownerOf(effect), error),
    });
  }

  /** Its agents are asked to stop, what they did is recorded, and others may go on with it. */
  stop(): void {
    this.#isStopping = true;
    this.#parts.bell.ring();
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get busyLanes(): number {
    return this.#inFlight.effects.filter(({ kind }) => kind === "iterate").length;
  }

  /** Nobody may wait for the database to end an agent that is not its own any more. */
  endWhatIsLost(): void {
    const kept = this.#inFlight.effects.filter((effect) => !this.#isLost(effect));
    if (kept.length < this.#inFlight.effects.length) this.#inFlight.abortUnwanted(kept);
  }

  async run(): Promise<"drained" | "stopped"> {
    try {
      for (;;) {
        const settled = this.#inFlight.nextSettled();
        const isAgain = await this.#turn();
        this.#inFlight.rethrowFailure();
        this.#abandonments.rethrowFailure();
        if (isAgain) continue;
        if (this.#isIdle && this.#isStopping) return "stopped";
        if (this.#isIdle && this.#parts.drains && this.#hasNothingToDo()) return "drained";
        const { ports, bell, tickMs } = this.#parts;
        await waitForNews(ports.clock, tickMs, [settled, bell.next()]);
      }
    } finally {
      for (const abort of this.#takingUp.values()) abort.abort(OVER);
      await this.#inFlight.abortAll();
    }
  }

  /** True: look again at once. */
  async #turn(): Promise<boolean> {
    const { journal, ports, fleet, holdings } = this.#parts;
    await journal.catchUp();
    const seen = journal.state;
    const { effects } = decide(seen, ports.clock.now());
    const ours = effects.filter((effect) => this.isOurs(effect, seen));
    const decisions = ours.filter((effect) => effect.kind === "record");
    for (const { events, task } of decisions)
      await this.#abandonments.unlessLost(() => journal.recordIfCurrent(events, task, seen));
    if (decisions.length > 0) return true;
    const wanted = ours.filter((effect) => effect.kind !== "record");
    this.#inFlight.abortUnwanted(wanted);
    this.#start(wanted, seen);
    this.#dropIdle(wanted, seen);
    await this.#abandonments.giveUp();
    for (const lease of holdings.takeDropped()) await fleet.release(lease);
    if (this.#isStopping) return false;
    await this.#takeRoles();
    if (holdings.has(COORDINATOR)) await this.#offer(effects, seen);
    await this.#takeMore(effects, seen);
    return false;
  }

  #start(wanted: readonly PerformableEffect[], state: State): void {
    const running = new Set(this.#inFlight.effects.map(({ key }) => key));
    for (const key of this.#owners.keys()) if (!running.has(key)) this.#owners.delete(key);
    for (const effect of wanted)
      if (!running.has(effect.key)) this.#owners.set(effect.key, ownerOf(effect, state));
    this.#inFlight.startMissing(wanted);
  }

  /** Whether this worker performs it: it holds the task, and the log knows that it does. */
  isOurs(effect: Effect, state: State): boolean {
    const owner = ownerOf(effect, state);
    const lease = this.#parts.holdings.get(owner);
    if (lease === null) return false;
    if (this.#isStopping && STARTS.has(effect.kind)) return false;
    if (isRole(owner)) return true;
    return isHeldBy(taskState(state, owner), lease.number) && this.#knowsAgent(effect, state);
  }

  #knowsAgent(effect: Effect, state: State): boolean {
    const task =
      effect.kind === "iterate" ? state.plan?.tasks.find(({ id }) => id === effect.task) : undefined;
    if (task === undefined || !isOpen(state.run)) return true;
    const agent = agentNow(state, task, state.run.settings, this.#parts.ports.clock.now());
    return this.#parts.labels.includes(`agent:${agent}`);
  }

  #ownerOf(effect: Effect): string {
    return this.#owners.get(effect.key) ?? ownerOf(effect, this.#parts.journal.state);
  }

  #isLost(effect: Effect): boolean {
    return !this.#parts.holdings.has(this.#ownerOf(effect));
  }

  #isCancelled(effect: PerformableEffect): boolean {
    return effect.kind === "iterate" && isCancelled(this.#parts.journal.state, effect.task);
  }

  /** A task that nobody can do anything for now, or only later, holds no lane: whoever is free takes it up again. */
  #dropIdle(wanted: readonly Effect[], state: State): void {
    const { holdings } = this.#parts;
    const busy = new Set([...wanted, ...this.#inFlight.effects].map((effect) => this.#ownerOf(effect)));
    for (const lease of holdings.all) {
      const { name } = lease;
      if (isRole(name) || busy.has(name) || this.#takingUp.has(name)) continue;
      const isOpenStill = state.iterations.some(({ task }) => task === name);
      if (isOpenStill && !this.#isStopping && isHeldBy(taskState(state, name), lease.number)) continue;
      holdings.drop(name);
    }
  }

  async #takeRoles(): Promise<void> {
    const { holdings, fleet, merges, ports } = this.#parts;
    const now = ports.clock.now();
    if (Math.abs(now - this.#askedAt) < ROLES_MS) return;
    this.#askedAt = now;
    for (const role of merges ? [COORDINATOR, MERGER] : [COORDINATOR]) {
      const isBusy = this.#inFlight.effects.some((effect) => this.#ownerOf(effect) === role);
      // What is still under way was begun by an earlier lease, and must not go on by the next.
      if (holdings.has(role) || isBusy || this.#abandonments.isPaused(role)) continue;
      const lease = await fleet.takeRole(role);
      if (lease !== null) holdings.add(lease);
    }
  }

  async #offer(effects: readonly Effect[], state: State): Promise<void> {
    const { fleet, ports, tickMs } = this.#parts;
    const now = ports.clock.now();
    const offers = offersOf(effects, state, now);
    const { at, keys } = this.#offered;
    // What was known may be so no longer: somebody had it, and gave it back.
    const isAgain = Math.abs(now - at) >= 2 * tickMs;
    const news = isAgain ? offers : offers.filter((offer) => !keys.has(keyOf(offer)));
    this.#offered = { at: isAgain ? now : at, keys: new Set(offers.map(keyOf)) };
    if (news.length > 0) await fleet.offer(news);
  }

  async #takeMore(effects: readonly Effect[], state: State): Promise<void> {
    const { lanes, holdings, fleet } = this.#parts;
    const held = new Set([...holdings.all.map(({ name }) => name), ...this.#takingUp.keys()]);
    const tasks = [...held].filter((name) => !isRole(name));
    if (tasks.length >= lanes || this.#abandonments.isPaused("taking")) return;
    const wanted = this.#offersForUs(effects, state).filter(({ task }) => !held.has(task));
    if (wanted.length === 0) return;
    // The different sets of labels, each once.
    const sets = new Map(wanted.map(({ labels }) => [labels.join(" "), labels]));
    const taken = await fleet.take(Math.min(lanes - tasks.length, wanted.length), [...sets.values()]);
    for (const lease of taken) this.#begin(lease);
  }

  #begin(lease: Lease): void {
    const { bell } = this.#parts;
    const abort = new AbortController();
    this.#takingUp.set(lease.name, abort);
    void this.#takeUp(lease, abort.signal)
      .catch((error: unknown) => this.#abandonments.fail(lease.name, error))
      .finally(() => {
        this.#takingUp.delete(lease.name);
        bell.ring();
      });
  }

  /** Whatever it still does by an earlier lease of the same task is over before the next one counts. */
  async #takeUp(lease: Lease, signal: AbortSignal): Promise<void> {
    const { id, ports, journal, holdings } = this.#parts;
    holdings.drop(lease.name);
    await this.#inFlight.end((effect) => this.#ownerOf(effect) === lease.name);
    holdings.add(lease);
    await takeUp(lease, id, ports, journal, signal);
  }

  get #isIdle(): boolean {
    const { holdings } = this.#parts;
    const holdsTask = holdings.all.some(({ name }) => !isRole(name));
    return this.#inFlight.isEmpty && this.#takingUp.size === 0 && !holdsTask;
  }

  #hasNothingToDo(): boolean {
    const { journal, ports } = this.#parts;
    const { state } = journal;
    const { effects } = decide(state, ports.clock.now());
    const isOurs = effects.some((effect) => this.isOurs(effect, state));
    return !isOurs && this.#offersForUs(effects, state).length === 0;
  }

  #offersForUs(effects: readonly Effect[], state: State): readonly Offer[] {
    const { labels, ports } = this.#parts;
    return offersOf(effects, state, ports.clock.now()).filter((offer) =>
      offer.labels.every((label) => labels.includes(label)),
    );
  }
}

function isRole(name: string): name is Role {
  return name === COORDINATOR || name === MERGER;
}

/** A worker that leaves begins none of these; what an agent did is still looked at. */
const STARTS: ReadonlySet<Effect["kind"]> = new Set<Effect["kind"]>([
  "iterate",
  "check-gates",
  "merge-task",
  "remove-worktree",
  "end-run",
  "take-default",
]);

function keyOf({ task, labels }: Offer): string {
  return `${task} ${labels.join(" ")}`;
}

const ROLE_PAUSE_MS = 30_000;
/** Whatever is wrong here may be wrong for the next task as well, and others are likely to do better. */
const TAKE_PAUSE_MS = 10_000;

/** What a worker does about a task that it cannot go on with: another one may try, and after some a person is asked. */
class Abandonments {
  readonly #parts: WorkerParts;
  readonly #failed = new Map<string, string>();
  /** When a role may be taken again, or something taken, by the monotonic clock. */
  readonly #pausedUntil = new Map<string, number>();
  #failure: { readonly error: unknown } | null = null;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** False: it is a mistake of ours, or nobody can do anything here. */
  takesCareOf(name: string, error: unknown): boolean {
    if (!(error instanceof RalphError)) return false;
    // The worker that took over knows better; and what is still held is decided anew.
    if (!isLeaseLost(error)) this.#failed.set(name, withHint(error));
    return true;
  }

  fail(name: string, error: unknown): void {
    if (!this.takesCareOf(name, error)) this.#failure ??= { error };
    if (isLeaseLost(error)) this.#parts.holdings.drop(name);
  }

  /** False: it is lost. */
  async unlessLost(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (isLeaseLost(error)) return false;
      throw error;
    }
  }

  /** Others may do better at it meanwhile: with the role, or with tasks. */
  isPaused(what: Role | "taking"): boolean {
    return this.#parts.clock.elapsed() < (this.#pausedUntil.get(what) ?? 0);
  }

  rethrowFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Records what could not be gone on with, and gives it up. */
  async giveUp(): Promise<void> {
    const { id, journal, holdings, clock, onTrouble } = this.#parts;
    for (const [name, why] of this.#failed) {
      this.#failed.delete(name);
      const { run } = journal.state;
      const isHeld = holdings.has(name);
      const dropped = { type: "task.dropped", run: run?.id ?? "", task: name, worker: id, why } as const;
      // It may be in other hands without our knowledge; then it is no trouble.
      if (isHeld && !isRole(name) && run !== null && !(await this.unlessLost(() => journal.record(dropped))))
        continue;
      onTrouble(`${name}: ${why}`);
      if (!isHeld) continue;
      this.#pausedUntil.set(
        isRole(name) ? name : "taking",
        clock.elapsed() + (isRole(name) ? ROLE_PAUSE_MS : TAKE_PAUSE_MS),
      );
      holdings.drop(name);
    }
  }
}

/** So many at a time are enough for everybody; the others come when these are taken. */
const OFFERS_MAX = 300;

/** Every task that somebody should be working on, the most urgent first: what is begun, then what may begin. */
function offersOf(effects: readonly Effect[], state: State, now: Instant): readonly Offer[] {
  const { run, plan } = state;
  if (!isOpen(run) || plan === null) return [];
  const tasks = new Map(plan.tasks.map((task) => [task.id, task]));
  const ids = new Set<TaskId>([
    ...state.iterations.map(({ task }) => task),
    ...effects.filter(({ kind }) => kind === "iterate").map((effect) => ownerOf(effect, state)),
  ]);
  return [...ids]
    .slice(0, OFFERS_MAX)
    .map((task, rank) => ({ task, rank, labels: labelsOf(tasks.get(task), state, now) }));
}

function labelsOf(task: Task | undefined, state: State, now: Instant): readonly string[] {
  if (task === undefined || state.run === null) return [];
  const agent = `agent:${agentNow(state, task, state.run.settings, now)}`;
  return [...new Set([agent, ...(task.labels ?? [])])].toSorted();
}

/**
 * Goes on with a task where another one left it, or begins it. What is left of an agent on this machine is ended first,
 * and what was begun is brought here: from now on the facts about it are this worker's.
 */
async function takeUp(
  { name: task, number: lease, from }: Lease,
  worker: string,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  await journal.catchUp();
  const { run, iterations } = journal.state;
  // It was offered, and settled since.
  if (run === null || !isWanted(task, journal.state, ports.clock.now())) return;
  const open = iterations.filter((one) => one.task === task);
  for (const marker of open.flatMap(markersOf)) await ports.agents.sweep(marker);
  const taken: Event = { type: "task.taken", run: run.id, task, worker, lease, from };
  const { worktree } = taskState(journal.state, task);
  if (worktree === null || ports.parallel === null) return journal.record(taken);
  const { base, merge } = worktree;
  const opened = await ports.parallel.worktrees.open(task, base, signal);
  if (signal.aborted) return;
  const { root, branch } = opened;
  const about = { run: run.id, task };
  await journal.record(
    taken,
    opened.is === "failed"
      ? { ...about, type: "worktree.failed", why: opened.why }
      : { ...about, type: "worktree.opened", root, branch, base, merge, copied: opened.copied },
  );
}

function isWanted(task: TaskId, state: State, now: Instant): boolean {
  return offersOf(decide(state, now).effects, state, now).some((offer) => offer.task === task);
}

/** Rung by whatever is news; nothing that rings while nobody waits is missed. */
export class Bell {
  #wake: () => void = () => {};
  #rung = false;

  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Resolves when it was rung since the last time. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#rung = false;
        resolve();
      };
      if (this.#rung) this.#wake();
    });
  }
}
