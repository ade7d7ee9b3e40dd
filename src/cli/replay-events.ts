import { join } from "node:path";
import type { Recorded } from "../core/events.ts";
import { evolve } from "../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../core/loop/state.ts";
import { runSummary } from "../core/projections/summary.ts";
import type { CliContext } from "./commands.ts";
import { jsonPrinter, plainPrinter } from "./print/run-printer.ts";
import { styleFor } from "./print/style.ts";

export interface Replay {
  /** The whole log, from its first event: what a run showed rests on what was before it. */
  readonly events: AsyncIterable<Recorded>;
  /** Null: every run there is. */
  readonly run: string | null;
  readonly asJson: boolean;
  readonly context: CliContext;
}

/** Shows runs again as `ralph run` showed them, with the times of then. Answers how many there were. */
export async function replayEvents({ events, run, asJson, context }: Replay): Promise<number> {
  const { stdout, env } = context;
  const write = (text: string): boolean => stdout.write(text);
  const printer = asJson ? jsonPrinter(write) : plainPrinter(write, styleFor(stdout, env));
  let state: State = EMPTY_STATE;
  let shown: string | null = null;
  let runs = 0;
  for await (const event of events) {
    state = evolve(state, event);
    if (event.type === "run.started" && (run === null || run === event.run)) {
      shown = event.run;
      runs += 1;
    }
    if (shown === null) continue;
    await printer.follow(event, state);
    if (event.type !== "run.ended" || event.run !== shown) continue;
    if (!asJson) printSummary(state, context);
    shown = null;
    if (run !== null) return runs;
  }
  if (shown !== null && !asJson) stdout.write("\nThe log ends here: this run has no end yet.\n");
  return runs;
}

function printSummary(state: State, { stdout, dir, env }: CliContext): void {
  // Where the run's own summary lay, whether or not we are there.
  const place = join(dir ?? env["RALPH_DIR"] ?? ".ralph", "logs", "summary.csv");
  for (const line of ["", ...runSummary(state, place, state.run?.end?.at ?? 0)]) stdout.write(`${line}\n`);
}
