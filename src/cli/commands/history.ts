import { eventsInPages, hasLog, iterationsOf, meantTask, readState, withLog } from "../../app/project-log.ts";
import { type Project, openProject } from "../../app/project.ts";
import { untilDrained } from "../print/output.ts";
import { damaged as damagedExport, readExport } from "../../adapters/store/read-export.ts";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { tell, type Act, type CliContext } from "../commands.ts";
import { jsonPrinter, plainPrinter } from "../print/run-printer.ts";
import { EVENT_VERSION, type Recorded } from "../../core/events.ts";
import { evolve } from "../../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../../core/state.ts";
import { historyEntry } from "../../core/views/iteration-entries.ts";
import type { IterationRecord } from "../../core/views/iteration-record.ts";
import { runSummary } from "../../core/views/run-lines.ts";
import { RalphError } from "../../core/errors.ts";
import { BUILD } from "../../core/loop/stages.ts";
import { isoTime, formatDuration } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { Log, LogFilter } from "../../engine/ports.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--task <id>", "only this task")
    .option("--json", "print JSON")
    .option("--jsonl", "export the whole log, one event a line")
    .action(act(history));
}

async function history(
  context: CliContext,
  { task: asked, jsonl }: { task?: string; jsonl?: boolean },
): Promise<number> {
  const project = await openProject(context);
  const task = asked === undefined ? asked : await meantTask(asked, await readState(project), project);
  if (jsonl === true) return exportLog(project, task === undefined ? {} : { task }, context);
  const records = await iterationsOf(project, task);
  return tell(context, records.map(historyEntry), () =>
    records.length === 0 ? ["No iteration yet."] : records.map(historyLine),
  );
}

/** One event a line as `ralph run --json` prints them, with the version that tells `ralph replay` how to read it. */
async function exportLog(project: Project, filter: LogFilter, { stdout }: CliContext): Promise<number> {
  if (!hasLog(project)) return 0;
  return withLog(project, async (log) => {
    for await (const event of eventsInPages(log, filter)) {
      const isTaken = stdout.write(`${JSON.stringify({ ...toWire(event), v: EVENT_VERSION })}\n`);
      if (!isTaken && !(await untilDrained(stdout))) break;
    }
    return 0;
  });
}

function historyLine(record: IterationRecord): string {
  const duration = record.report === null ? "running" : formatDuration(record.report.durationMs);
  const why = record.reasons.map((reason) => reason.sentence).join("; ");
  const number = String(record.iteration).padStart(3);
  const stage = record.stage === BUILD.name ? "" : ` ${record.stage}`;
  const who = record.worker === undefined ? "" : `  ${record.worker}`;
  return `${number}  ${isoTime(record.startedAt).slice(0, 19)}  ${record.task}${stage} (${record.ordinal}/${record.maxIterations})${who}  ${duration}  ${record.verdict ?? "open"}  ${why}`;
}

export function defineReplay(command: Command, act: Act): void {
  command
    .argument("[run]", 'the id of a run, the beginning of one, "last", or a FILE.jsonl', "last")
    .option("--run <id>", "of a file with several runs: only this one")
    .option("--json", "events as JSON lines on stdout")
    .action(act(replay));
}

async function replay(context: CliContext, wanted: string, flags: { run?: string }): Promise<number> {
  if (wanted.endsWith(".jsonl") || wanted.includes("/"))
    return replayFile(resolve(context.cwd, wanted), flags.run, context);
  if (flags.run !== undefined) throw new RalphError("usage", "--run goes with a FILE.jsonl only");
  const project = await openProject(context);
  if (!hasLog(project)) throw noRun("no run is recorded here");
  return withLog(project, async (log) => {
    await replayEvents(eventsInPages(log), pickRun(wanted, await runsIn(log)), context);
    return 0;
  });
}

/** The ids of all runs, oldest first. */
export async function runsIn(log: Log): Promise<readonly string[]> {
  const started = await log.read(0, { types: ["run.started"] });
  return started.flatMap((event) => (event.type === "run.started" ? [event.run] : []));
}

/** Needs no repository. */
async function replayFile(file: string, wanted: string | undefined, context: CliContext): Promise<number> {
  const runs: string[] = [];
  if (wanted !== undefined)
    for await (const { event } of readExport(file)) if (event.type === "run.started") runs.push(event.run);
  const run = wanted === undefined ? null : pickRun(wanted, runs);
  let at = 0;
  const events = async function* (): AsyncGenerator<Recorded> {
    for await (const { line, event } of readExport(file)) {
      at = line;
      yield event;
    }
  };
  try {
    const shown = await replayEvents(events(), run, context);
    if (shown > 0) return 0;
  } catch (error) {
    if (error instanceof RalphError) throw error;
    throw damagedExport(file, at, undefined, error);
  }
  throw noRun(`${file} has no run in it`);
}

/** By its id, the beginning of one, or "last". */
export function pickRun(wanted: string, runs: readonly string[]): string {
  const found = wanted === "last" ? runs.slice(-1) : runs.filter((run) => run.startsWith(wanted));
  const exact = found.find((run) => run === wanted) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact;
  if (runs.length === 0) throw noRun("no run is recorded here");
  if (found.length === 0) throw noRun(`no run begins with "${wanted}"`, runs);
  throw noRun(`"${wanted}" may be ${found.slice(-5).join(" or ")}`);
}

function noRun(message: string, runs: readonly string[] = []): RalphError {
  const known = runs.length === 0 ? "" : `; the last ones: ${runs.slice(-5).join(", ")}`;
  return new RalphError("usage", message, {
    hint: `name a run by its id, take the last one, or replay a file: ralph history --jsonl > FILE.jsonl${known}`,
  });
}

/**
 * Shows runs again as `ralph run` showed them, with the times of then: this one, or every run there is. Takes the whole
 * log: what a run showed rests on what was before it. Answers how many there were.
 */
async function replayEvents(
  events: AsyncIterable<Recorded>,
  run: string | null,
  context: CliContext,
): Promise<number> {
  const { stdout, style, json } = context;
  const write = (text: string): boolean => stdout.write(text);
  const printer = json ? jsonPrinter(write) : plainPrinter(write, style);
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
    if (!json) printSummary(state, context);
    shown = null;
    if (run !== null) return runs;
  }
  if (shown !== null && !json) stdout.write("\nThe log ends here: this run has no end yet.\n");
  return runs;
}

function printSummary(state: State, { print, dir, env }: CliContext): void {
  // Where the run's own summary lay, whether or not we are there.
  const place = join(dir ?? env["RALPH_DIR"] ?? ".ralph", "logs", "summary.csv");
  print(["", ...runSummary(state, place)]);
}
