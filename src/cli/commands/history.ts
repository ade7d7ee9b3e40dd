import type { Command } from "commander";
import { hasLog, openProject, type Project } from "../../compose.ts";
import { formatDuration } from "../../core/duration.ts";
import { EVENT_VERSION } from "../../core/events.ts";
import { historyEntry } from "../../core/projections/history.ts";
import type { IterationRecord } from "../../core/projections/iteration-record.ts";
import { BUILD } from "../../core/stages/stages.ts";
import { isoTime } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { LogFilter } from "../../engine/ports.ts";
import type { Act, CliContext } from "../commands.ts";
import { eventsInPages, untilDrained } from "../events-in-pages.ts";
import { iterationsOf } from "../iterations-of.ts";
import { withLog } from "../project-state.ts";

interface Flags {
  readonly task?: string;
  readonly json?: boolean;
  readonly jsonl?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--task <id>", "only this task")
    .option("--json", "print JSON")
    .option("--jsonl", "export the whole log, one event a line")
    .action((flags: Flags) => act((context) => history(flags, context)));
}

async function history(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const filter = flags.task === undefined ? {} : { task: flags.task };
  if (flags.jsonl === true) return exportLog(project, filter, context);
  const records = await iterationsOf(project, flags.task);
  if (flags.json === true) context.stdout.write(`${JSON.stringify(records.map(historyEntry), null, 2)}\n`);
  else if (records.length === 0) context.stdout.write("No iteration yet.\n");
  else for (const record of records) context.stdout.write(`${historyLine(record)}\n`);
  return 0;
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
