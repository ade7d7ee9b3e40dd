import type { RunId } from "../../core/event-shape.ts";
import type { Recorded } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import { outsideWaits } from "../../core/loop/outside-waits.ts";
import { extendRecord, type IterationRecord } from "../../core/projections/iteration-record.ts";
import { eventLines } from "./event-lines.ts";
import { LanePrefixes } from "./lane-prefixes.ts";
import type { Style } from "./style.ts";

/** The facts of a run, one after the other, as lines for a person. */
export class RunLines {
  readonly lanes = new LanePrefixes();
  readonly #style: Style;
  readonly #open = new Map<number, IterationRecord>();
  #begun: RunId | null = null;
  #waits: ReadonlySet<string> = new Set();

  constructor(style: Style) {
    this.#style = style;
  }

  of(event: Recorded, state: State): readonly string[] {
    const record = "iteration" in event ? extendRecord(this.#open.get(event.iteration), event) : undefined;
    if (record !== undefined) this.#open.set(record.iteration, record);
    if (event.type === "verdict.reached") this.#open.delete(event.iteration);
    this.lanes.see(event, state);
    const prefix = "task" in event && event.task !== null ? this.lanes.of(event.task) : "";
    const lines = this.#isKnown(event, state) ? [] : eventLines(event, state, record, this.#style, prefix);
    return event.type === "tasks.observed" ? [...lines, ...this.#waitLines(state)] : lines;
  }

  /** What waits for something that is not among the tasks, each once. */
  #waitLines(state: State): readonly string[] {
    const { run, plan } = state;
    const waits = run === null || plan === null ? [] : outsideWaits(state, run, plan);
    const news = waits.filter((wait) => !this.#waits.has(wait));
    this.#waits = new Set(waits);
    return news.map((wait) => this.#style.ask(`! ${wait}`));
  }

  /** Every merge brings its mark, and nothing new. */
  #isKnown(event: Recorded, { run }: State): boolean {
    if (event.type === "run.resumed") this.#begun = event.run;
    if (event.type !== "tasks.observed") return false;
    const isBegun = event.run === this.#begun;
    this.#begun = event.run;
    return isBegun && run?.settings.worktrees != null;
  }
}
