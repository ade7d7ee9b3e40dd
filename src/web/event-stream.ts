import type { Context } from "hono";
import { streamSSE, type SSEStreamingApi } from "hono/streaming";
import { every } from "../engine/follow.ts";
import { everythingUpTo, type LiveProject } from "./live-project.ts";

const POLL_MS = 300;
const PROGRESS_MS = 1_000;
const HEARTBEAT_MS = 15_000;

/** Tells all pages what is new. The log is looked at by one for all, and by nobody while no page is open. */
export class EventStream {
  readonly #live: LiveProject;
  readonly #stop: AbortSignal;
  readonly #listeners = new Set<Listener>();
  #polling: AbortController | null = null;
  #lastProgress = { text: "[]", at: 0 };

  /** `stop`: every stream is closed. */
  constructor(live: LiveProject, stop: AbortSignal) {
    this.#live = live;
    this.#stop = stop;
    live.listen(() => {
      for (const listener of this.#listeners) listener.wake();
    });
  }

  /** `after`: the position that the page has seen; null when it has just come. */
  serve(context: Context, after: number | null): Response {
    return streamSSE(context, async (stream) => {
      const listener = new Listener();
      const leave = (): void => listener.leave();
      stream.onAbort(leave);
      this.#stop.addEventListener("abort", leave);
      this.#join(listener);
      try {
        await this.#tell(stream, listener, after);
      } catch {
        // The stream ends, and the browser comes again by itself.
      } finally {
        this.#stop.removeEventListener("abort", leave);
        this.#part(listener);
      }
    });
  }

  async #tell(stream: SSEStreamingApi, listener: Listener, after: number | null): Promise<void> {
    // Whoever has the page open will want to see the history.
    await this.#live.iterations().catch(() => null); // the next look may succeed
    let position = after ?? this.#live.state.position;
    if (after === null) await sendFacts(stream, everythingUpTo(position));
    let progress = "[]";
    while (!listener.isGone && !stream.aborted && !this.#stop.aborted) {
      const facts = await this.#live.factsSince(position);
      if (facts !== null) {
        position = facts.position;
        await sendFacts(stream, facts);
      }
      if (progress !== this.#lastProgress.text) {
        progress = this.#lastProgress.text;
        await stream.writeSSE({ event: "progress", data: progress });
      }
      if (!(await listener.isWokenWithin(HEARTBEAT_MS))) await stream.write(": here\n\n");
    }
  }

  #join(listener: Listener): void {
    this.#listeners.add(listener);
    if (this.#polling !== null) return;
    const polling = new AbortController();
    this.#polling = polling;
    void every(POLL_MS, AbortSignal.any([polling.signal, this.#stop]), () => this.#look());
  }

  #part(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#polling?.abort();
    this.#polling = null;
  }

  async #look(): Promise<void> {
    await this.#live.refresh().catch(() => {}); // it is looked again in a moment
    const now = performance.now();
    if (now - this.#lastProgress.at < PROGRESS_MS) return;
    const text = JSON.stringify(this.#live.progress);
    const isNews = text !== this.#lastProgress.text;
    this.#lastProgress = { text, at: now };
    if (isNews) for (const listener of this.#listeners) listener.wake();
  }
}

async function sendFacts(stream: SSEStreamingApi, facts: ReturnType<typeof everythingUpTo>): Promise<void> {
  await stream.writeSSE({ event: "facts", id: String(facts.position), data: JSON.stringify(facts) });
}

/** One page, and whether there may be something to tell it. */
class Listener {
  #isWoken = false;
  #resolve: (() => void) | null = null;
  isGone = false;

  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  leave(): void {
    this.isGone = true;
    this.wake();
  }

  async isWokenWithin(ms: number): Promise<boolean> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const wasWoken = this.#isWoken;
    this.#isWoken = false;
    this.#resolve = null;
    return wasWoken;
  }
}
