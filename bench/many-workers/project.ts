import { PLAIN } from "../../src/core/agents.ts";
import { configSchema } from "../../src/config/schema.ts";
import { resolveSettings } from "../../src/config/resolve-settings.ts";
import { plainTask, type Plan } from "../../src/core/plan.ts";
import type { Settings } from "../../src/core/settings.ts";
import type { SharedLog } from "../../src/engine/fleet-ports.ts";
import { submit } from "../../src/engine/operator.ts";
import type { FleetSize } from "./run-workers.ts";
import { TESTS_GATE } from "../../test/spec/given.ts";
import { AGENT } from "./stub-ports.ts";

const SOURCE = { kind: "checklist", label: "TODO.md", path: "TODO.md" } as const;

/** As `ralph submit` would give these tasks to workers, with everything that ends a run early far away. */
export function settingsOf({ callsPerHour, merge }: Pick<FleetSize, "callsPerHour" | "merge">): Settings {
  const config = { ...configSchema.parse({ agent: AGENT }), maxIterationsPerTask: 30 };
  const agents = [{ name: AGENT, ...PLAIN, format: "text", command: ["true"] } as const];
  const flags = { maxIterations: 1_000_000, calls: callsPerHour };
  const { settings } = resolveSettings(config, flags, SOURCE, agents);
  return {
    ...settings,
    gates: [TESTS_GATE],
    shared: true,
    lanes: 1_000,
    keepGoing: true,
    worktrees: { base: "main", merge },
  };
}

export function planOf(tasks: number): Plan {
  return {
    source: SOURCE,
    tasks: Array.from({ length: tasks }, (_, index) =>
      plainTask({
        id: `task-${index + 1}`,
        title: `Make part ${index + 1} of the parser`,
        description: "It reads what the scanner gives it, and says where it stopped.",
      }),
    ),
  };
}

export async function submitTasks(
  log: SharedLog,
  size: Pick<FleetSize, "tasksEach" | "callsPerHour" | "merge">,
): Promise<void> {
  const submitted = {
    run: `run-${size.tasksEach}`,
    settings: settingsOf(size),
    plan: planOf(size.tasksEach),
    pid: process.pid,
    version: "bench",
    head: "0".repeat(40),
  };
  await submit(log, submitted, () => Date.now());
}
