import { resolve } from "node:path";
import type { Command } from "commander";
import { damagedExport, hasLog, openProject, readExport } from "../../compose.ts";
import type { Recorded } from "../../core/events.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Log } from "../../engine/ports.ts";
import type { Act, CliContext } from "../commands.ts";
import { eventsInPages } from "../events-in-pages.ts";
import { withLog } from "../project-state.ts";
import { replayEvents } from "../replay-events.ts";

interface Flags {
  readonly run?: string;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[run]", 'the id of a run, the beginning of one, "last", or a FILE.jsonl', "last")
    .option("--run <id>", "of a file with several runs: only this one")
    .option("--json", "events as JSON lines on stdout")
    .action((wanted: string, flags: Flags) => act((context) => replay(wanted, flags, context)));
}

async function replay(wanted: string, flags: Flags, context: CliContext): Promise<number> {
  const asJson = flags.json === true;
  if (wanted.endsWith(".jsonl") || wanted.includes("/"))
    return replayFile(resolve(context.cwd, wanted), flags.run, asJson, context);
  if (flags.run !== undefined) throw new RalphError("usage", "--run goes with a FILE.jsonl only");
  const project = await openProject(context);
  if (!hasLog(project)) throw noRun("no run is recorded here");
  return withLog(project, async (log) => {
    const run = pickRun(wanted, await runsIn(log));
    await replayEvents({ events: eventsInPages(log), run, asJson, context });
    return 0;
  });
}

async function runsIn(log: Log): Promise<readonly string[]> {
  const started = await log.read(0, { types: ["run.started"] });
  return started.flatMap((event) => (event.type === "run.started" ? [event.run] : []));
}

/** Needs no repository. */
async function replayFile(
  file: string,
  wanted: string | undefined,
  asJson: boolean,
  context: CliContext,
): Promise<number> {
  const run = wanted === undefined ? null : pickRun(wanted, await runsInFile(file));
  const place = { line: 0 };
  try {
    const runs = await replayEvents({ events: eventsOf(file, place), run, asJson, context });
    if (runs > 0) return 0;
  } catch (error) {
    if (error instanceof RalphError) throw error;
    throw damagedExport(file, place.line, undefined, error);
  }
  throw noRun(`${file} has no run in it`);
}

async function* eventsOf(file: string, place: { line: number }): AsyncGenerator<Recorded> {
  for await (const { line, event } of readExport(file)) {
    place.line = line;
    yield event;
  }
}

async function runsInFile(file: string): Promise<readonly string[]> {
  const runs: string[] = [];
  for await (const { event } of readExport(file)) if (event.type === "run.started") runs.push(event.run);
  return runs;
}

function pickRun(wanted: string, runs: readonly string[]): string {
  const found = wanted === "last" ? runs.slice(-1) : runs.filter((run) => run.startsWith(wanted));
  const exact = found.find((run) => run === wanted) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact;
  if (found.length === 0)
    throw noRun(runs.length === 0 ? "no run is recorded here" : `no run begins with "${wanted}"`, runs);
  throw noRun(`"${wanted}" may be ${found.slice(-5).join(" or ")}`);
}

function noRun(message: string, runs: readonly string[] = []): RalphError {
  const known = runs.length === 0 ? "" : `; the last ones: ${runs.slice(-5).join(", ")}`;
  return new RalphError("usage", message, {
    hint: `ralph replay last, or a whole export: ralph history --jsonl > FILE.jsonl${known}`,
  });
}
