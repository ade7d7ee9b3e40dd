import { blockedIn, eventsInPages, hasLog, withLog } from "../../app/project-log.ts";
import { type Project, isDriven, openProject } from "../../app/project.ts";
import { printOrWrite } from "../print/output.ts";
import { jobSummary, markdownReport } from "../../core/report/markdown-report.ts";
import { htmlReport } from "../../core/report/html-report.ts";
import { basename } from "node:path";
import type { Command } from "commander";
import { tell, tellActed, type Act, type CliContext } from "../commands.ts";
import { pickRun, runsIn } from "./history.ts";
import type { Recorded } from "../../core/events.ts";
import { evolve } from "../../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../../core/state.ts";
import { RalphError } from "../../core/errors.ts";
import { runReport, type RunReport } from "../../core/report/run-report.ts";
import type { Log } from "../../engine/ports.ts";

interface Flags {
  readonly html?: boolean;
  readonly md?: boolean;
  readonly summary?: boolean;
  readonly out?: string;
}

const REPORTS = { html: htmlReport, md: markdownReport, summary: jobSummary };

export function define(command: Command, act: Act): void {
  command
    .argument("[run]", "the id of a run, or the beginning of one; without it the latest")
    .option("--html", "one page that needs nothing else")
    .option("--md", "Markdown; this is what you get without a flag, unless --out ends in .html")
    .option("--summary", "the short one, in Markdown, as on the page of a CI job")
    .option("--out <file>", "write it there instead of printing it")
    .option("--json", "print the report as a text in JSON")
    .action(act(report));
}

async function report(context: CliContext, wanted: string | undefined, flags: Flags): Promise<number> {
  const chosen = (["html", "md", "summary"] as const).filter((name) => flags[name] === true);
  if (chosen.length > 1)
    throw new RalphError("usage", `--${chosen[0]} and --${chosen[1]} are two reports; choose one`);
  const kind = chosen[0] ?? (/\.html?$/i.test(flags.out ?? "") ? "html" : "md");
  const project = await openProject(context);
  const told = await reportOfRun(project, wanted, context.version);
  if (told === null) {
    const why = "no run yet in this repository\n  → start one: ralph run";
    tellActed(context, { is: "refused", why, isMoot: true });
    return 1;
  }
  if (context.json) {
    const text = REPORTS[kind](told);
    if (flags.out !== undefined) await printOrWrite(text, flags.out, "the report", context);
    return tell(
      context,
      { format: kind, ...(flags.out === undefined ? { text } : { file: flags.out }) },
      () => [],
    );
  }
  await printOrWrite(REPORTS[kind](told), flags.out, "the report", context);
  return 0;
}

/** What there is to tell of a run, by its id or the beginning of one, else of the latest; null when there was none. */
export async function reportOfRun(
  project: Project,
  wanted: string | undefined,
  version: string,
): Promise<RunReport | null> {
  if (!hasLog(project)) return null;
  return withLog(project, async (log) => {
    const runs = await runsIn(log);
    if (runs.length === 0) return null;
    const run = pickRun(wanted ?? "last", runs);
    const isLatest = run === runs.at(-1);
    const { events, state } = await eventsOfRun(log, run, isLatest);
    return runReport({
      run,
      events,
      state,
      blocked: await blockedIn(state, log),
      project: basename(project.root),
      isDriven: isLatest && (await isDriven(project)),
      isLatest,
      now: Date.now(),
      version,
    });
  });
}

/** What was recorded from the start of a run to its end, of the latest one until now; and the state after that. */
async function eventsOfRun(
  log: Log,
  run: string,
  isLatest: boolean,
): Promise<{ readonly events: readonly Recorded[]; readonly state: State }> {
  const events: Recorded[] = [];
  let state: State = EMPTY_STATE;
  for await (const event of eventsInPages(log)) {
    if (event.type === "run.started" && events.length > 0) break;
    state = evolve(state, event);
    if (events.length > 0 || (event.type === "run.started" && event.run === run)) events.push(event);
    if (!isLatest && event.type === "run.ended" && event.run === run) break;
  }
  return { events, state };
}
