import type { GateSettings, Settings } from "../settings.ts";
import type { Plan } from "../plan.ts";

/** What a run would do, as `ralph run --dry-run --json` prints it and the page shows it before a start. */
export interface RunPlan {
  readonly source: string;
  readonly tasks: readonly { readonly id: string; readonly title: string; readonly done: boolean }[];
  readonly agent: string;
  /** Everybody who may get work, this one first. */
  readonly agents: readonly string[];
  readonly gates: readonly { readonly name: string; readonly command: string; readonly required: boolean }[];
  readonly lanes: number;
  /** Each task in a worktree of its own. */
  readonly worktrees: boolean;
  readonly max_iterations: number;
  readonly budget_usd: number | null;
  /** Whether accepted work waits for a person. */
  readonly approve: "auto" | "person";
  readonly sandbox: string | null;
}

export function runPlan(
  plan: Plan,
  settings: Settings,
  { agents, gates }: { readonly agents: readonly string[]; readonly gates: readonly GateSettings[] },
): RunPlan {
  const { onlyTasks, lanes, limits } = settings;
  const tasks = plan.tasks.filter(({ id }) => onlyTasks === null || onlyTasks.includes(id));
  return {
    source: plan.source.label,
    tasks: tasks.map(({ id, title, done }) => ({ id, title, done })),
    agent: settings.agent,
    agents,
    gates: gates.map(({ name, command, required }) => ({ name, command, required })),
    lanes,
    worktrees: settings.worktrees != null,
    max_iterations: limits.maxIterations,
    budget_usd: limits.budget.run,
    approve: settings.verify?.approve ?? "auto",
    sandbox: settings.sandbox?.kind ?? null,
  };
}
