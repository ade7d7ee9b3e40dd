import { isOpen, type State } from "../../core/loop/state.ts";

/** By then an agent or a gate is at work, and we have nothing else to do. */
const LATE_MS = 10;

/** Shows where things stand a moment later: of facts in quick succession only the last is worth a file. */
export class LateWriter {
  readonly #write: (state: State) => void;
  #unwritten: State | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(write: (state: State) => void) {
    this.#write = write;
  }

  /** The end of a run is written at once. A write that failed late is heard of here. */
  settle(state: State): void {
    if (this.#failure !== null) throw this.#failure.error;
    const isScheduled = this.#unwritten !== null;
    this.#unwritten = state;
    if (!isOpen(state.run)) this.#writeNow();
    else if (!isScheduled) setTimeout(() => this.#writeLate(), LATE_MS);
  }

  #writeLate(): void {
    try {
      this.#writeNow();
    } catch (error) {
      this.#failure = { error };
    }
  }

  #writeNow(): void {
    const state = this.#unwritten;
    this.#unwritten = null;
    if (state !== null) this.#write(state);
  }
}
