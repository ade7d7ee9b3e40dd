import type { Command } from "commander";
import { hasLog, openProject } from "../../compose.ts";
import { formatDuration } from "../../core/duration.ts";
import { historyEntry } from "../../core/projections/history.ts";
import {
  iterationRecords,
  RECORD_EVENTS,
  type IterationRecord,
} from "../../core/projections/iteration-record.ts";
import { isoTime } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { Act, CliContext } from "../commands.ts";
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
  const types = flags.jsonl === true ? {} : { types: RECORD_EVENTS };
  const events = hasLog(project) ? await withLog(project, (log) => log.read(0, { ...filter, ...types })) : [];
  if (flags.jsonl === true) {
    for (const event of events) context.stdout.write(`${JSON.stringify(toWire(event))}\n`);
    return 0;
  }
  const records = iterationRecords(events);
  if (flags.json === true) context.stdout.write(`${JSON.stringify(records.map(historyEntry), null, 2)}\n`);
  else if (records.length === 0) context.stdout.write("No iteration yet.\n");
  else for (const record of records) context.stdout.write(`${historyLine(record)}\n`);
  return 0;
}

function historyLine(record: IterationRecord): string {
  const duration = record.report === null ? "running" : formatDuration(record.report.durationMs);
  const why = record.reasons.map((reason) => reason.sentence).join("; ");
  const number = String(record.iteration).padStart(3);
  return `${number}  ${isoTime(record.startedAt).slice(0, 19)}  ${record.task} (${record.ordinal}/${record.maxIterations})  ${duration}  ${record.verdict ?? "open"}  ${why}`;
}
