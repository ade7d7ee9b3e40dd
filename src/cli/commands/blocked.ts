import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import { formatDuration } from "../../core/duration.ts";
import { blockedEntry, type BlockedTask } from "../../core/projections/blocked.ts";
import { blockedNow } from "../blocked-now.ts";
import type { Act, CliContext } from "../commands.ts";
import { suggestionLines, TITLE_LENGTH, WHY_LENGTH } from "../print/blocked-lines.ts";
import { columns, shortened } from "../print/columns.ts";
import { readState } from "../project-state.ts";

interface Flags {
  readonly suggest?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--suggest", "say what would help, and what to type")
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => blocked(flags, context)));
}

async function blocked(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const tasks = await blockedNow(project, await readState(project));
  const { stdout, stderr } = context;
  if (flags.json === true) {
    stdout.write(`${JSON.stringify(tasks.map(blockedEntry), null, 2)}\n`);
    return 0;
  }
  if (tasks.length === 0) stdout.write("No task is blocked. Where all of them stand: ralph status\n");
  const lines = flags.suggest === true ? suggestionLines(tasks) : columns(tasks.map(cells));
  for (const line of lines) stdout.write(`${line}\n`);
  if (tasks.length > 0 && flags.suggest !== true)
    stderr.write("ralph: what would help: ralph blocked --suggest\n");
  return 0;
}

function cells(task: BlockedTask): readonly string[] {
  const { attempts, lastTimeoutMs } = task;
  return [
    task.id,
    shortened(task.title, TITLE_LENGTH),
    attempts === 1 ? "1 attempt" : `${attempts} attempts`,
    lastTimeoutMs === null ? "" : `${formatDuration(lastTimeoutMs)} each`,
    shortened(task.why, WHY_LENGTH),
  ];
}
