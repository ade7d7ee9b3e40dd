import type { Clock } from "../engine/ports.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that jumps to the next timer as soon as everybody waits. */
export class VirtualTime implements Clock {
  #elapsed = Date.UTC(2026, 0, 1);
  /** How far somebody has put the clock forward, or back. */
  #ahead = 0;
  #order = 0;
  #timers: Timer[] = [];
  /** Timers fired; a world that never comes to rest is caught by this. */
  fired = 0;

  now(): number {
    return this.#elapsed + this.#ahead;
  }

  /** It only ever goes on, whatever the clock says. */
  elapsed(): number {
    return this.#elapsed;
  }

  jump(ms: number): void {
    this.#ahead += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = this.at(this.now() + ms, wake);
      signal?.addEventListener("abort", wake);
    });
  }

  /** Calls `fire` when it would be that moment, whatever becomes of the clock; the answer cancels it. */
  at(moment: number, fire: () => void): () => void {
    const timer: Timer = { at: moment - this.#ahead, order: this.#order++, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Lets time pass until the work is done, or fails when nothing is left that could finish it. */
  async until<T>(work: Promise<T>, timersMax: number): Promise<T> {
    let settled = false;
    const watched = work.finally(() => {
      settled = true;
    });
    watched.catch(() => {});
    const firedMax = this.fired + timersMax;
    for (;;) {
      await new Promise(setImmediate);
      if (settled) return watched;
      const next = this.#takeEarliest();
      if (next === null) throw new Error("deadlock: everybody waits and no timer is left");
      if (this.fired++ > firedMax) throw new Error("endless: the world does not come to rest");
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.fire();
    }
  }

  #takeEarliest(): Timer | null {
    const earliest = this.#timers.reduce<Timer | null>(
      (best, timer) =>
        best === null || timer.at < best.at || (timer.at === best.at && timer.order < best.order)
          ? timer
          : best,
      null,
    );
    if (earliest !== null) this.#timers = this.#timers.filter((timer) => timer !== earliest);
    return earliest;
  }
}
