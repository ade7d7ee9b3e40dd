import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import { profileEntries, type ProfileEntry } from "../../core/projections/profiles.ts";
import type { Act, CliContext } from "../commands.ts";
import { columns } from "../print/columns.ts";
import { styleFor } from "../print/style.ts";
import { readState } from "../project-state.ts";
import { unknownName } from "../unknown-name.ts";

interface Flags {
  readonly agent?: string;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--agent <name>", "only this agent")
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => profile(flags, context)));
}

async function profile({ agent, json }: Flags, context: CliContext): Promise<number> {
  const { stdout, env } = context;
  const all = profileEntries(await readState(await openProject(context)));
  const names = all.map((entry) => entry.agent_id);
  // Before the first iteration nobody is known, so nobody can be wrong.
  if (agent !== undefined && all.length > 0 && !names.includes(agent))
    throw unknownName("profile of", agent, names);
  const shown = all.filter((entry) => agent === undefined || entry.agent_id === agent);
  if (json === true) stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  else if (shown.length === 0) stdout.write("No agent has worked here yet. Start a run: ralph run\n");
  else {
    const [header = "", ...lines] = columns([HEADER, ...shown.map(cells)]);
    stdout.write(`${styleFor(stdout, env).dim(header)}\n`);
    for (const line of lines) stdout.write(`${line}\n`);
  }
  return 0;
}

const HEADER = ["agent", "iterations", "no files", "false claims", "files each", "last corrected", ""];

function cells(entry: ProfileEntry): readonly string[] {
  return [
    entry.agent_id,
    String(entry.total_iterations),
    String(entry.no_files_count),
    String(entry.false_completion_count),
    entry.avg_files_per_iteration === null ? "unknown" : entry.avg_files_per_iteration.toFixed(1),
    entry.last_reinforcement === null ? "never" : entry.last_reinforcement.slice(0, 19),
    entry.intervention_threshold_exceeded ? "over the threshold" : "",
  ];
}
