import type { Recorded } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import { extendRecord, type IterationRecord } from "../../core/projections/iteration-record.ts";
import { eventLines } from "./event-lines.ts";
import { LanePrefixes } from "./lane-prefixes.ts";
import { PlanNews } from "./plan-news.ts";
import type { Style } from "./style.ts";

/** The facts of a run, one after the other, as lines for a person. */
export class RunLines {
  readonly lanes = new LanePrefixes();
  readonly #style: Style;
  readonly #open = new Map<number, IterationRecord>();
  readonly #plan: PlanNews;

  constructor(style: Style) {
    this.#style = style;
    this.#plan = new PlanNews(style);
  }

  of(event: Recorded, state: State): readonly string[] {
    const record = "iteration" in event ? extendRecord(this.#open.get(event.iteration), event) : undefined;
    if (record !== undefined) this.#open.set(record.iteration, record);
    if (event.type === "verdict.reached") this.#open.delete(event.iteration);
    this.lanes.see(event, state);
    const prefix = "task" in event && event.task !== null ? this.lanes.of(event.task) : "";
    const lines = this.#plan.isBegun(event) ? [] : eventLines(event, state, record, this.#style, prefix);
    return [...lines, ...this.#plan.of(event, state)];
  }
}
