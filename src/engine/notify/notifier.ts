import type { Recorded } from "../../core/events.ts";
import { NOTICE_EVENTS, noticeOf, type NoticeKind } from "../../core/notices/notice.ts";
import type { State } from "../../core/loop/state.ts";
import { SECOND_MS } from "../../core/time.ts";
import type { Channel, Delivered } from "../notify-ports.ts";
import type { Clock, Follower, Log } from "../ports.ts";
import { Outbox, STALE_MS } from "./outbox.ts";

const TOLD: ReadonlySet<Recorded["type"]> = new Set(NOTICE_EVENTS);
const PATIENCE_MS = 10 * SECOND_MS;

export interface NotifierParts {
  readonly channels: readonly Channel[];
  readonly kinds: readonly NoticeKind[];
  readonly delivered: Delivered;
  readonly log: Pick<Log, "read">;
  readonly clock: Clock;
  /** Who this is, of several that share the run: everybody tells what they recorded themselves. */
  readonly worker?: string;
  readonly warn: (text: string) => void;
  readonly note: (text: string) => void;
}

/**
 * Tells people what they should know. Facts are in the log, so all that has to be remembered is up to where each channel
 * has had them: whatever is missing after a crash is sent by the next run.
 */
export class Notifier implements Follower {
  readonly #parts: NotifierParts;
  readonly #outboxes: ReadonlyMap<Channel, Outbox>;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#outboxes = new Map(parts.channels.map((channel) => [channel, new Outbox({ ...parts, channel })]));
  }

  /** Takes up what earlier processes did not get through. Before the first fact of this one. */
  async start(state: State): Promise<void> {
    const { channels, delivered, log, clock, note } = this.#parts;
    for (const [channel, outbox] of this.#outboxes) {
      const position = delivered.read(channel.name);
      // A channel that is new has missed nothing; and a log that was begun anew counts from its beginning.
      if (position === null || position > state.position) {
        outbox.remember(state.position);
        continue;
      }
      const missed = await log.read(position, { types: NOTICE_EVENTS });
      const fresh = missed.filter(({ at }) => clock.now() - at <= STALE_MS);
      if (fresh.length < missed.length)
        note(`${missed.length - fresh.length} facts are too old for a notice by ${channel.name}`);
      for (const event of fresh) if (event.position <= state.position) this.#tell(event, state, outbox);
    }
    if (channels.length > 0) note(`notices go to ${channels.map(({ shown }) => shown).join(", ")}`);
  }

  follow(event: Recorded, state: State): Promise<void> {
    for (const outbox of this.#outboxes.values()) this.#tell(event, state, outbox);
    return Promise.resolve();
  }

  /** At the end: waits a bounded time for what is still under way. */
  async finish(): Promise<void> {
    await Promise.all([...this.#outboxes.values()].map((outbox) => outbox.finish(PATIENCE_MS)));
  }

  #tell(event: Recorded, state: State, outbox: Outbox): void {
    if (!TOLD.has(event.type)) return;
    const notice = this.#isOwn(event) ? noticeOf(event, state) : null;
    const isWanted = notice !== null && this.#parts.kinds.some((kind) => kind === notice.kind);
    if (isWanted) outbox.add(notice);
    else outbox.skip(event.position);
  }

  #isOwn(event: Recorded): boolean {
    const { worker } = this.#parts;
    if (worker === undefined) return true;
    return "worker" in event && event.worker === worker;
  }
}
