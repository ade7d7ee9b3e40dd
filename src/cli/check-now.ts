import { randomUUID } from "node:crypto";
import { driverOf, gatesOf, type Project } from "../compose.ts";
import type { GateResult } from "../core/report/gate-result.ts";
import type { GateSettings } from "../core/settings.ts";
import type { CliContext } from "./commands.ts";
import type { ProjectGates } from "./project-gates.ts";

/** What an interrupted program answers, by custom. */
export const INTERRUPTED = 130;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs gates one after another in the work tree as it is, and tells of each when it is done. Ctrl-C ends the one that
 * runs, with everything it started; the answer is null then.
 */
export async function checkNow(
  project: Project,
  { gates, plugins }: ProjectGates,
  context: CliContext,
  onResult: (result: GateResult, gate: GateSettings) => void = () => {},
): Promise<readonly GateResult[] | null> {
  const driver = driverOf(project);
  if (driver !== null)
    context.stderr.write(
      `ralph: a run is active (pid ${driver.pid ?? "unknown"}): what is checked here may change meanwhile\n`,
    );
  const { gates: runner } = await gatesOf(project, context.env, gates, plugins);
  const marker = randomUUID();
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    const results: GateResult[] = [];
    for (const gate of gates) {
      const [result] = await runner.check([gate], marker, interruption.signal);
      if (interruption.signal.aborted || result === undefined) return null;
      results.push(result);
      onResult(result, gate);
    }
    return results;
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}
