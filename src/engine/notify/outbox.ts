import { formatDuration } from "../../core/duration.ts";
import type { Notice } from "../../core/notices/notice.ts";
import { SECOND_MS, type Instant } from "../../core/time.ts";
import type { Channel, Delivered, Delivery } from "../notify-ports.ts";
import type { Clock } from "../ports.ts";

const FIRST_PAUSE_MS = SECOND_MS;
const LONGEST_PAUSE_MS = 300 * SECOND_MS;
/** What is older is no news: it is not sent any more. */
export const STALE_MS = 24 * 3_600 * SECOND_MS;

export interface OutboxParts {
  readonly channel: Channel;
  readonly delivered: Delivered;
  readonly clock: Clock;
  /** Something that a person should know. */
  readonly warn: (text: string) => void;
  /** What only the log keeps. */
  readonly note: (text: string) => void;
}

interface Pause {
  readonly until: Instant;
  /** The receiver wants to be left alone until then. */
  readonly isAskedFor: boolean;
  readonly cut: AbortController;
}

/** The notices of one channel, one after another, each until it is delivered or not worth it any more. */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #waiting: Notice[] = [];
  readonly #over = new AbortController();
  #pause: Pause | null = null;
  #failingSince: Instant | null = null;
  #isLastTry = false;
  #deadline = Infinity;
  #hasWarned = false;
  #pumping: Promise<void> | null = null;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
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
    const { delivered, channel } = this.#parts;
    try {
      delivered.write(channel.name, position);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#warnOnce(`what the ${channel.name} has got cannot be noted, so it may come twice: ${why}`);
    }
  }

  /** Resolves when everything is sent, or when so long is over; the rest is for the next run. */
  async finish(patienceMs: number): Promise<void> {
    const { clock, note, channel } = this.#parts;
    this.#deadline = clock.now() + patienceMs;
    // Who has failed for so long already gets one more chance, not all the patience again.
    this.#isLastTry = this.#failingSince !== null && clock.now() - this.#failingSince > patienceMs;
    if (this.#isLastTry || (this.#pause?.until ?? 0) >= this.#deadline) this.#pause?.cut.abort();
    const timer = new AbortController();
    const tooLate = clock.sleep(patienceMs, timer.signal).then(() => this.#over.abort());
    await this.#pumping;
    timer.abort();
    await tooLate;
    const left = this.#waiting.length;
    if (left > 0) note(`${left} not sent by ${channel.name}: the next run does it`);
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
    const { channel, clock, warn, note } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      if (clock.now() - notice.at > STALE_MS) {
        warn(`the notice ${notice.id} for the ${channel.name} is too old to be sent: ${notice.text}`);
        return true;
      }
      const delivery = await this.#send(notice);
      if (delivery.is === "delivered") {
        this.#hasWarned = false;
        this.#failingSince = null;
        note(`the ${channel.name} has the notice ${notice.id}`);
        return true;
      }
      if (delivery.is === "refused") {
        this.#warnOnce(`the ${channel.name} (${channel.shown}) does not take notices: ${delivery.why}`);
        return true;
      }
      this.#failingSince ??= clock.now();
      if (this.#over.signal.aborted || this.#isLastTry) return false;
      this.#warnOnce(
        `the ${channel.name} (${channel.shown}) cannot be reached: ${delivery.why}; it is tried again, if need be by the next run`,
      );
      if (!(await this.#pauseAfter(tries, delivery))) return false;
    }
  }

  async #send(notice: Notice): Promise<Delivery> {
    try {
      return await this.#parts.channel.send(notice, this.#over.signal);
    } catch (error) {
      // A channel that breaks does not break the run.
      const why = error instanceof Error ? error.message : String(error);
      return { is: "failed", why, retryAfterMs: null };
    }
  }

  /** False: it would last longer than anybody waits. */
  async #pauseAfter(tries: number, { retryAfterMs }: Delivery & { is: "failed" }): Promise<boolean> {
    const { clock, note, channel } = this.#parts;
    const growing = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
    const pauseMs = Math.max(growing, Math.min(retryAfterMs ?? 0, STALE_MS));
    if (clock.now() + pauseMs >= this.#deadline) return false;
    note(`the ${channel.name} is tried again in ${formatDuration(pauseMs)}`);
    this.#pause = {
      until: clock.now() + pauseMs,
      isAskedFor: (retryAfterMs ?? 0) > growing,
      cut: new AbortController(),
    };
    const { cut, isAskedFor } = this.#pause;
    await clock.sleep(pauseMs, cut.signal);
    this.#pause = null;
    if (!cut.signal.aborted) return true;
    this.#isLastTry = true;
    return !isAskedFor;
  }

  #warnOnce(text: string): void {
    if (this.#hasWarned) this.#parts.note(text);
    else this.#parts.warn(text);
    this.#hasWarned = true;
  }
}
