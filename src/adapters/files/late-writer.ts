import { isOpen, type State } from "../../core/state.ts";

/** By then an agent or a gate is at work, and we have nothing else to do. */
const LATE_MS = 10;
/** A reader does not see more than this. */
export const PAUSE_MS = 200;
/** An agent may be just deleting the folder: that is tried again with the next fact. */
const TRIES = 3;

/** Shows where things stand a moment later: of facts in quick succession only the last is worth a file. */
export class LateWriter {
  readonly #write: (state: State) => void;
  readonly #pauseMs: number;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #unwritten: State | null = null;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #failure: { readonly error: unknown } | null = null;

  constructor(write: (state: State) => void, pauseMs = PAUSE_MS) {
    this.#write = write;
    this.#pauseMs = pauseMs;
  }

  /** The end of a run is written at once. A write that failed late is heard of here. */
  settle(state: State): void {
    if (this.#failure !== null) throw this.#failure.error;
    this.#unwritten = state;
    if (!isOpen(state.run)) this.#writeNow();
    else this.#timer ??= setTimeout(() => this.#writeLate(), this.#delayMs());
  }

  /** Abandonments everything that is not written yet. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#unwritten = null;
  }

  #delayMs(): number {
    return Math.max(LATE_MS, this.#writtenMs + this.#pauseMs - performance.now());
  }

  #writeLate(): void {
    try {
      this.#writeNow();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (!isVanished(error) || this.#failures >= TRIES) this.#failure = { error };
    }
  }

  #writeNow(): void {
    const state = this.#unwritten;
    this.rest();
    if (state === null) return;
    this.#write(state);
    this.#writtenMs = performance.now();
  }
}

function isVanished(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).code === "ENOENT" || isVanished(error.cause);
}
