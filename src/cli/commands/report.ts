import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { htmlReport } from "../../core/run-report/html/html-report.ts";
import { jobSummary } from "../../core/run-report/markdown/job-summary.ts";
import { markdownReport } from "../../core/run-report/markdown/markdown-report.ts";
import type { Act, CliContext } from "../commands.ts";
import { printOrWrite } from "../print-or-write.ts";
import { reportOfRun } from "../report-of-run.ts";

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
    .action((run: string | undefined, flags: Flags) => act((context) => report(run, flags, context)));
}

async function report(wanted: string | undefined, flags: Flags, context: CliContext): Promise<number> {
  const chosen = (["html", "md", "summary"] as const).filter((name) => flags[name] === true);
  if (chosen.length > 1)
    throw new RalphError("usage", `--${chosen[0]} and --${chosen[1]} are two reports; choose one`);
  const kind = chosen[0] ?? (/\.html?$/i.test(flags.out ?? "") ? "html" : "md");
  const project = await openProject(context);
  const told = await reportOfRun(project, wanted, context.version);
  if (told === null) {
    context.stderr.write("ralph: no run yet in this repository\n  → start one: ralph run\n");
    return 1;
  }
  await printOrWrite(REPORTS[kind](told), flags.out, "the report", context);
  return 0;
}
