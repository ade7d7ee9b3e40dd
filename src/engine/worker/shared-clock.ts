import type { Instant } from "../../core/time.ts";
import type { Clock } from "../ports.ts";

/** The database's clock, as far as it was heard: what the clocks of the machines say does not matter. */
export class SharedClock implements Clock {
  readonly #own: Clock;
  readonly #elapsed: () => number;
  #ahead: number;

  constructor(own: Clock, elapsed: () => number = () => performance.now()) {
    this.#own = own;
    this.#elapsed = elapsed;
    this.#ahead = own.now() - elapsed();
  }

  /** It was this time there, at some moment since `begunAt`. */
  heard(now: Instant, begunAt: number): void {
    this.#ahead = Math.round(now - (begunAt + this.#elapsed()) / 2);
  }

  /** By this machine's own clock, which only ever goes on. */
  elapsed(): number {
    return this.#elapsed();
  }

  now(): Instant {
    return Math.round(this.#elapsed() + this.#ahead);
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#own.sleep(ms, signal);
  }
}
