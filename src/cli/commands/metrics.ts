import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import type { State } from "../../core/loop/state.ts";
import { blockedTasks, metricsOf, type Metrics } from "../../core/projections/metrics.ts";
import type { Act, CliContext } from "../commands.ts";
import { columns } from "../print/columns.ts";
import { readState } from "../project-state.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--json", "print JSON")
    .action((flags: { json?: boolean }) => act((context) => metrics(flags.json === true, context)));
}

async function metrics(asJson: boolean, context: CliContext): Promise<number> {
  const state = await readState(await openProject(context));
  const { stdout } = context;
  if (asJson) stdout.write(`${JSON.stringify(metricsOf(state), null, 2)}\n`);
  else if (state.tally.iterations === 0 && state.tally.interventions === 0)
    stdout.write("Nothing to measure yet. Start a run: ralph run\n");
  else for (const line of columns(rows(state, metricsOf(state)))) stdout.write(`${line}\n`);
  return 0;
}

function rows(state: State, numbers: Metrics): readonly (readonly string[])[] {
  const { tally } = state;
  const types = Object.entries(numbers.interventions_by_type)
    .toSorted(([, a], [, b]) => b - a)
    .map(([type, count]) => [`  ${type}`, String(count)]);
  const cost = numbers.cost_per_accepted_task_usd;
  return [
    [
      "iterations",
      String(tally.iterations),
      `${tally.wasted} without progress (${percent(numbers.wasted_rate)})`,
    ],
    ["files per iteration", decimal(numbers.files_per_iteration)],
    ["tasks begun", String(tally.tasksStarted), tasksLine(state, numbers)],
    ["cost per accepted task", cost === null ? "unknown" : `$${cost.toFixed(2)}`],
    [
      "interventions",
      String(tally.interventions),
      `${decimal(numbers.intervention_rate_per_100_iterations)} in 100 iterations`,
    ],
    ...types,
    [
      "corrections that helped",
      percent(numbers.avg_remediation_success_rate),
      `${tally.remedied} of ${tally.corrected}`,
    ],
  ];
}

function tasksLine(state: State, numbers: Metrics): string {
  const blocked = blockedTasks(state);
  return `${state.tally.tasksCompleted} completed (${percent(numbers.completion_rate)}), ${blocked} blocked (${percent(numbers.blocked_rate)})`;
}

function percent(rate: number | null): string {
  return rate === null ? "unknown" : `${Math.round(rate * 100)} %`;
}

function decimal(number: number | null): string {
  return number === null ? "unknown" : number.toFixed(1);
}
