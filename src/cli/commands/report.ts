import { basename } from "node:path";
import type { Command } from "commander";
import { hasLog, isDriven, openProject, type Project } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { htmlReport } from "../../core/run-report/html/html-report.ts";
import { markdownReport } from "../../core/run-report/markdown/markdown-report.ts";
import { runReport, type RunReport } from "../../core/run-report/run-report.ts";
import type { Act, CliContext } from "../commands.ts";
import { blockedThen, eventsOfRun } from "../events-of-run.ts";
import { printOrWrite } from "../print-or-write.ts";
import { withLog } from "../project-state.ts";

interface Flags {
  readonly html?: boolean;
  readonly md?: boolean;
  readonly out?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[run]", "the id of a run, or the beginning of one; without it the latest")
    .option("--html", "one page that needs nothing else")
    .option("--md", "Markdown; this is what you get without a flag, unless --out ends in .html")
    .option("--out <file>", "write it there instead of printing it")
    .action((run: string | undefined, flags: Flags) => act((context) => report(run, flags, context)));
}

async function report(wanted: string | undefined, flags: Flags, context: CliContext): Promise<number> {
  if (flags.html === true && flags.md === true)
    throw new RalphError("usage", "--html and --md are two reports; choose one");
  const asHtml = flags.html === true || (flags.md !== true && /\.html?$/i.test(flags.out ?? ""));
  const project = await openProject(context);
  const told = await reportOf(project, wanted, context);
  if (told === null) {
    context.stderr.write("ralph: no run yet in this repository\n  → start one: ralph run\n");
    return 1;
  }
  const text = asHtml ? htmlReport(told) : markdownReport(told);
  await printOrWrite(text, flags.out, "the report", context);
  return 0;
}

async function reportOf(
  project: Project,
  wanted: string | undefined,
  { version }: CliContext,
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
