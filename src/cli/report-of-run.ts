import { basename } from "node:path";
import { hasLog, isDriven, type Project } from "../compose.ts";
import { RalphError } from "../core/ralph-error.ts";
import { runReport, type RunReport } from "../core/run-report/run-report.ts";
import { blockedThen, eventsOfRun } from "./events-of-run.ts";
import { withLog } from "./project-state.ts";

/** What there is to tell of a run, by its id or the beginning of one, else of the latest; null when there was none. */
export async function reportOfRun(
  project: Project,
  wanted: string | undefined,
  version: string,
): Promise<RunReport | null> {
  if (!hasLog(project)) return null;
  return withLog(project, async (log) => {
    const started = await log.read(0, { types: ["run.started"] });
    const runs = started.flatMap((event) => (event.type === "run.started" ? [event.run] : []));
    const run = wanted === undefined ? runs.at(-1) : pickRun(wanted, runs);
    if (run === undefined) return null;
    const isLatest = run === runs.at(-1);
    const { events, state } = await eventsOfRun(log, run, isLatest);
    return runReport({
      run,
      events,
      state,
      blocked: await blockedThen(log, state),
      project: basename(project.root),
      isDriven: isLatest && (await isDriven(project)),
      isLatest,
      now: Date.now(),
      version,
    });
  });
}

function pickRun(wanted: string, runs: readonly string[]): string | undefined {
  if (runs.length === 0) return undefined;
  const found = runs.filter((run) => run.startsWith(wanted));
  const exact = found.find((run) => run === wanted) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact;
  const message =
    found.length === 0
      ? `no run begins with "${wanted}"`
      : `"${wanted}" may be ${found.slice(-5).join(" or ")}`;
  throw new RalphError("usage", message, {
    hint: `the latest: ralph report; the last ones: ${runs.slice(-5).join(", ")}`,
  });
}
