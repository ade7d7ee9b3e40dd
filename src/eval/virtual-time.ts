import type { Clock } from "../engine/ports.ts";

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** A clock that jumps to the next timer as soon as everybody waits. */
export class VirtualTime implements Clock {
  #elapsed = Date.UTC(2026, 0, 1);
  /** How far somebody has put the clock forward, or back. */
  #ahead = 0;
  /** The earliest first; of two at the same moment the one that was set first. */
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
    const timer: Timer = { at: moment - this.#ahead, fire };
    this.#timers.push(timer);
    this.#timers.sort((one, other) => one.at - other.at);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Lets time pass until the work is done, or fails when nothing is left that could finish it. */
  async until<T>(work: Promise<T>, timersMax: number): Promise<T> {
    let settled = false;
    const watched = work.finally(() => (settled = true));
    watched.catch(() => {});
    const firedMax = this.fired + timersMax;
    for (;;) {
      await new Promise(setImmediate);
      if (settled) return watched;
      const next = this.#timers.shift();
      if (next === undefined) throw new Error("deadlock: everybody waits and no timer is left");
      if (this.fired++ > firedMax) throw new Error("endless: the world does not come to rest");
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.fire();
    }
  }
}
