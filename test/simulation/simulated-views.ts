import { IterationRows, rowsOf } from "../../src/core/views/ralph-files.ts";
import type { Recorded } from "../../src/core/events.ts";
import type { State } from "../../src/core/state.ts";
import type { Follower } from "../../src/engine/ports.ts";
import type { DurableFacts } from "./durable-facts.ts";
import type { World } from "./world.ts";

/** The files that people and scripts read: one row for each judged iteration. They outlive the processes. */
export class ViewFiles {
  rows: readonly string[] = [];

  /** Whether they say what the log says. */
  check(world: World, facts: DurableFacts): void {
    const told = rowsIn(facts.all);
    if (JSON.stringify(this.rows) !== JSON.stringify(told))
      world.violate(`the files have ${this.rows.length} rows, and the log has other ones: ${told.length}`);
  }
}

/** Keeps the files in step for one process, as the program does: what is missing at its start is made again. */
export class SimulatedViews implements Follower {
  readonly #files: ViewFiles;
  readonly #facts: DurableFacts;
  readonly #rows = new IterationRows();

  constructor(files: ViewFiles, facts: DurableFacts) {
    this.#files = files;
    this.#facts = facts;
  }

  restore(state: State): void {
    const known = this.#facts.all.filter(({ position }) => position <= state.position);
    if (this.#files.rows.length !== state.judged) this.#files.rows = rowsIn(known);
    const open = new Set(state.iterations.map(({ number }) => number));
    for (const event of known)
      if ("iteration" in event && open.has(event.iteration ?? 0)) this.#rows.remember(event);
  }

  async follow(event: Recorded, state: State): Promise<void> {
    this.#rows.follow(event, state);
  }

  async settle(): Promise<void> {
    this.#files.rows = [...this.#files.rows, ...this.#rows.take().map(({ summary }) => summary)];
  }
}

function rowsIn(events: readonly Recorded[]): readonly string[] {
  return rowsOf(events).map(({ summary }) => summary);
}
