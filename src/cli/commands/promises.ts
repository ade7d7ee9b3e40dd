import type { Command } from "commander";
import { hasLog, openProject } from "../../compose.ts";
import { iterationRecords } from "../../core/projections/iteration-record.ts";
import { PROMISE_EVENTS, promiseEntries, type PromiseEntry } from "../../core/projections/promises.ts";
import type { Act, CliContext } from "../commands.ts";
import { columns, shortened } from "../print/columns.ts";
import { readState, withLog } from "../project-state.ts";
import { unknownTask } from "../unknown-task.ts";

const PROMISE_LENGTH = 40;

interface Flags {
  readonly task?: string;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--task <id>", "only this task")
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => promises(flags, context)));
}

async function promises({ task, json }: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const filter = { types: PROMISE_EVENTS, ...(task !== undefined && { task }) };
  const events = hasLog(project) ? await withLog(project, (log) => log.read(0, filter)) : [];
  if (task !== undefined && events.length === 0) {
    const state = await readState(project);
    if (state.tasks[task] === undefined) throw await unknownTask(task, state, project);
  }
  const entries = promiseEntries(iterationRecords(events));
  const { stdout } = context;
  if (json === true) stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
  else if (entries.length === 0)
    stdout.write("Nobody has promised anything yet. What the iterations did: ralph history\n");
  else for (const line of columns(entries.map(cells))) stdout.write(`${line}\n`);
  return 0;
}

function cells(entry: PromiseEntry): readonly string[] {
  return [
    String(entry.iteration).padStart(3),
    entry.at.slice(0, 19),
    entry.task,
    entry.agent,
    asPrinted(entry),
    entry.verdict ?? "open",
    entry.reasons.join("; "),
  ];
}

function asPrinted({ promise, matches, hidden, claim }: PromiseEntry): string {
  if (promise === null) return hidden ? "(quoted: does not count)" : "(a status line)";
  const text = shortened(promise, PROMISE_LENGTH);
  const isSignal = claim === "blocked" || claim === "undecided";
  return matches || isSignal ? text : `${text} (not the expected one)`;
}
