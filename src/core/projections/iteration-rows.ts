import type { Recorded } from "../events.ts";
import { evolve } from "../loop/evolve.ts";
import { EMPTY_STATE, type State } from "../loop/state.ts";
import { extendRecord, type IterationRecord } from "./iteration-record.ts";
import { executionRow, summaryRow } from "./rows.ts";

/** What is written of one iteration: a line of the summary, and one with everything. */
export interface IterationRow {
  readonly summary: string;
  readonly execution: string;
}

/** The rows of iterations as their facts come, one after another. */
export class IterationRows {
  readonly #open = new Map<number, IterationRecord>();
  /** Iterations whose verdict is here, and perhaps not yet all that follows from it; with the state at the verdict. */
  #judged: { readonly iteration: number; readonly state: State }[] = [];

  /** True: a row is due, when everything that follows is here. */
  follow(event: Recorded, state: State): boolean {
    const isDue = this.remember(event) !== undefined && event.type === "verdict.reached";
    if (isDue) this.#judged.push({ iteration: event.iteration, state });
    return isDue;
  }

  /** A fact about an iteration that is still open. */
  remember(event: Recorded): IterationRecord | undefined {
    if (!("iteration" in event)) return undefined;
    const record = extendRecord(this.#open.get(event.iteration), event);
    if (record !== undefined) this.#open.set(event.iteration, record);
    return record;
  }

  /** Those that are due, each once. */
  take(): readonly IterationRow[] {
    const judged = this.#judged;
    this.#judged = [];
    return judged.flatMap(({ iteration, state }) => {
      const record = this.#open.get(iteration);
      this.#open.delete(iteration);
      if (record === undefined) return [];
      return [{ summary: summaryRow(record, state), execution: JSON.stringify(executionRow(record)) }];
    });
  }
}

/** All rows of a log. */
export function rowsOf(events: readonly Recorded[]): readonly IterationRow[] {
  const keeper = new IterationRows();
  const rows: IterationRow[] = [];
  let state = EMPTY_STATE;
  for (const event of events) {
    // What follows from a verdict is recorded with it, before anything else begins.
    if (event.type === "iteration.started") rows.push(...keeper.take());
    state = evolve(state, event);
    keeper.follow(event, state);
  }
  return [...rows, ...keeper.take()];
}
