import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Measures } from "./measures.ts";
import type { Play } from "./play-world.ts";

interface Job {
  readonly play: Play;
  readonly done: (measures: Measures) => void;
  readonly failed: (error: Error) => void;
}

const THREADS_MAX = 8;

/** Threads that play worlds, one each at a time; worlds know nothing of each other, so the order does not matter. */
export class WorkerPool {
  readonly #program: URL;
  readonly #waiting: Job[] = [];
  readonly #idle: Worker[] = [];
  readonly #all: Worker[] = [];

  constructor(program: URL) {
    this.#program = program;
  }

  play(play: Play): Promise<Measures> {
    return new Promise((done, failed) => {
      this.#waiting.push({ play, done, failed });
      this.#startNext();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.terminate()));
  }

  #startNext(): void {
    const worker = this.#idle.pop() ?? this.#hire();
    const job = worker === null ? undefined : this.#waiting.shift();
    if (worker === null || job === undefined) {
      if (worker !== null) this.#idle.push(worker);
      return;
    }
    const onError = (error: Error): void => job.failed(error);
    worker.once("error", onError);
    worker.once("message", (measures: Measures) => {
      worker.off("error", onError);
      job.done(measures);
      this.#idle.push(worker);
      this.#startNext();
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(job.play);
  }

  #hire(): Worker | null {
    if (this.#all.length >= Math.min(availableParallelism(), THREADS_MAX)) return null;
    const worker = new Worker(this.#program);
    this.#all.push(worker);
    return worker;
  }
}
