import type { Recorded } from "../../core/events.ts";
import { NOTICE_EVENTS, noticeOf, type NoticeKind, type Notice } from "../../core/views/notice.ts";
import type { State } from "../../core/state.ts";
import { SECOND_MS, type Instant, formatDuration } from "../../core/time.ts";
import type { Channel, Delivered, Clock, Follower, Log, Delivery } from "../ports.ts";

const TOLD: ReadonlySet<Recorded["type"]> = new Set(NOTICE_EVENTS);
const PATIENCE_MS = 10 * SECOND_MS;
const FIRST_PAUSE_MS = SECOND_MS;
const LONGEST_PAUSE_MS = 300 * SECOND_MS;
/** What is older is no news: it is not sent any more. */
const STALE_MS = 24 * 3_600 * SECOND_MS;

export interface NotifierParts {
  readonly channels: readonly Channel[];
  readonly kinds: readonly NoticeKind[];
  readonly delivered: Delivered;
  readonly log: Pick<Log, "read">;
  readonly clock: Clock;
  /** Who this is, of several that share the run: everybody tells what they recorded themselves. */
  readonly worker?: string;
  /** Something that a person should know. */
  readonly warn: (text: string) => void;
  /** What only the log keeps. */
  readonly note: (text: string) => void;
}

/**
 * Tells people what they should know. Facts are in the log, so all that has to be remembered is up to where each channel
 * has had them: whatever is missing after a crash is sent by the next run.
 */
export class Notifier implements Follower {
  readonly #parts: NotifierParts;
  readonly #outboxes: readonly Outbox[];

  constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#outboxes = parts.channels.map((channel) => new Outbox(parts, channel));
  }

  /** Takes up what earlier processes did not get through. Before the first fact of this one. */
  async start(state: State): Promise<void> {
    const { channels, delivered, log, clock, note } = this.#parts;
    for (const outbox of this.#outboxes) {
      const { name } = outbox.channel;
      const position = delivered.read(name);
      // A channel that is new has missed nothing; and a log that was begun anew counts from its beginning.
      if (position === null || position > state.position) {
        outbox.remember(state.position);
        continue;
      }
      const missed = await log.read(position, { types: NOTICE_EVENTS });
      const fresh = missed.filter(({ at }) => clock.now() - at <= STALE_MS);
      if (fresh.length < missed.length)
        note(`${missed.length - fresh.length} facts are too old for a notice by ${name}`);
      for (const event of fresh) if (event.position <= state.position) this.#tell(event, state, outbox);
    }
    if (channels.length > 0) note(`notices go to ${channels.map(({ shown }) => shown).join(", ")}`);
  }

  follow(event: Recorded, state: State): Promise<void> {
    for (const outbox of this.#outboxes) this.#tell(event, state, outbox);
    return Promise.resolve();
  }

  /** At the end: waits a bounded time for what is still under way. */
  async finish(): Promise<void> {
    await Promise.all(this.#outboxes.map((outbox) => outbox.finish(PATIENCE_MS)));
  }

  #tell(event: Recorded, state: State, outbox: Outbox): void {
    if (!TOLD.has(event.type)) return;
    const { worker, kinds } = this.#parts;
    const isOwn = worker === undefined || ("worker" in event && event.worker === worker);
    const notice = isOwn ? noticeOf(event, state) : null;
    if (notice !== null && kinds.some((kind) => kind === notice.kind)) outbox.add(notice);
    else outbox.skip(event.position);
  }
}

/** The notices of one channel, one after another, each until it is delivered or not worth it any more. */
class Outbox {
  readonly channel: Channel;
  readonly #parts: NotifierParts;
  readonly #waiting: Notice[] = [];
  readonly #over = new AbortController();
  /** Until when it waits, and what ends that. */
  #pause: { readonly until: Instant; readonly cut: AbortController } | null = null;
  #deadline = Infinity;
  #hasWarned = false;
  #pumping: Promise<void> | null = null;

  constructor(parts: NotifierParts, channel: Channel) {
    this.#parts = parts;
    this.channel = channel;
  }

  add(notice: Notice): void {
    this.#waiting.push(notice);
    this.#pumping ??= this.#pump();
  }

  /** A fact that is not wanted now is not sent later either, whatever is wanted then. */
  skip(position: number): void {
    if (this.#waiting.length === 0) this.remember(position);
  }

  /** The channel has everything up to there. */
  remember(position: number): void {
    const { name } = this.channel;
    try {
      this.#parts.delivered.write(name, position);
    } catch (error) {
      this.#warnOnce(`what the ${name} has got cannot be noted, so it may come twice: ${wordsOf(error)}`);
    }
  }

  /** Resolves when everything is sent, or when so long is over; the rest is for the next run. */
  async finish(patienceMs: number): Promise<void> {
    const { clock, note } = this.#parts;
    this.#deadline = clock.now() + patienceMs;
    // A channel that would wait for longer gets one more chance now.
    if ((this.#pause?.until ?? 0) >= this.#deadline) this.#pause?.cut.abort();
    const timer = new AbortController();
    const tooLate = clock.sleep(patienceMs, timer.signal).then(() => this.#over.abort());
    await this.#pumping;
    timer.abort();
    await tooLate;
    const left = this.#waiting.length;
    if (left > 0) note(`${left} not sent by ${this.channel.name}: the next run does it`);
  }

  async #pump(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!(await this.#settle(next))) return;
      this.#waiting.shift();
      this.remember(next.position);
    }
    this.#pumping = null;
  }

  /** False: it has to wait for the next run. */
  async #settle(notice: Notice): Promise<boolean> {
    const { clock, warn, note } = this.#parts;
    const { name, shown } = this.channel;
    for (let tries = 1; ; tries += 1) {
      if (clock.now() - notice.at > STALE_MS) {
        warn(`the notice ${notice.id} for the ${name} is too old to be sent: ${notice.text}`);
        return true;
      }
      const delivery = await this.#send(notice);
      if (delivery.is === "delivered") {
        this.#hasWarned = false;
        note(`the ${name} has the notice ${notice.id}`);
        return true;
      }
      if (delivery.is === "refused") {
        this.#warnOnce(`the ${name} (${shown}) does not take notices: ${delivery.why}`);
        return true;
      }
      if (this.#over.signal.aborted) return false;
      this.#warnOnce(
        `the ${name} (${shown}) cannot be reached: ${delivery.why}; it is tried again, if need be by the next run`,
      );
      if (!(await this.#pauseAfter(tries, delivery.retryAfterMs ?? 0))) return false;
    }
  }

  async #send(notice: Notice): Promise<Delivery> {
    try {
      return await this.channel.send(notice, this.#over.signal);
    } catch (error) {
      // A channel that breaks does not break the run.
      return { is: "failed", why: wordsOf(error), retryAfterMs: null };
    }
  }

  /** False: it would last longer than anybody waits. */
  async #pauseAfter(tries: number, askedMs: number): Promise<boolean> {
    const { clock, note } = this.#parts;
    const growing = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
    const pauseMs = Math.max(growing, Math.min(askedMs, STALE_MS));
    const until = clock.now() + pauseMs;
    if (until >= this.#deadline) return false;
    note(`the ${this.channel.name} is tried again in ${formatDuration(pauseMs)}`);
    const cut = new AbortController();
    this.#pause = { until, cut };
    await clock.sleep(pauseMs, cut.signal);
    this.#pause = null;
    // A receiver that wants to be left alone for so long gets no last try.
    return !cut.signal.aborted || askedMs <= growing;
  }

  #warnOnce(text: string): void {
    if (this.#hasWarned) this.#parts.note(text);
    else this.#parts.warn(text);
    this.#hasWarned = true;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
