import { KEEPER, MERGER, type Part } from "../../core/loop/effect-owner.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Journal } from "../journal.ts";
import type { Holdings } from "./holdings.ts";

interface DropParts {
  readonly id: string;
  readonly journal: Journal;
  readonly holdings: Holdings;
  /** The monotonic clock. */
  readonly elapsed: () => number;
  readonly onTrouble: (what: string) => void;
}

const PART_PAUSE_MS = 30_000;
/** Whatever is wrong here may be wrong for the next task as well, and others are likely to do better. */
const TAKE_PAUSE_MS = 10_000;

/** What a worker does about a task that it cannot go on with: another one may try, and after some a person is asked. */
export class Drops {
  readonly #parts: DropParts;
  readonly #failed = new Map<string, string>();
  /** When a part may be played again, or something taken, by the monotonic clock. */
  readonly #pausedUntil = new Map<string, number>();
  #failure: { readonly error: unknown } | null = null;

  constructor(parts: DropParts) {
    this.#parts = parts;
  }

  /** False: it is a mistake of ours, or nobody can do anything here. */
  takesCareOf(name: string, error: unknown): boolean {
    if (!(error instanceof RalphError)) return false;
    // Whoever took over knows better; and what is still held is decided anew.
    if (error.code === "lease-lost") return true;
    this.#failed.set(name, error.message);
    return true;
  }

  fail(name: string, error: unknown): void {
    if (!this.takesCareOf(name, error)) this.#failure ??= { error };
    if (error instanceof RalphError && error.code === "lease-lost") this.#parts.holdings.drop(name);
  }

  async unlessLost(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof RalphError) || error.code !== "lease-lost") throw error;
    }
  }

  /** Others may do better at it meanwhile: at playing a part, or at taking tasks. */
  isPaused(what: Part | "taking"): boolean {
    return this.#parts.elapsed() < (this.#pausedUntil.get(what) ?? 0);
  }

  rethrowFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Records what could not be gone on with, and gives it up. */
  async giveUp(): Promise<void> {
    const { id, journal, holdings, elapsed, onTrouble } = this.#parts;
    for (const [name, why] of this.#failed) {
      this.#failed.delete(name);
      const { run } = journal.state;
      onTrouble(`${name}: ${why}`);
      if (!holdings.has(name)) continue;
      const isPart = name === KEEPER || name === MERGER;
      this.#pausedUntil.set(isPart ? name : "taking", elapsed() + (isPart ? PART_PAUSE_MS : TAKE_PAUSE_MS));
      if (run !== null && !isPart)
        await this.unlessLost(() =>
          journal.record({ type: "task.dropped", run: run.id, task: name, worker: id, why }),
        );
      holdings.drop(name);
    }
  }
}
