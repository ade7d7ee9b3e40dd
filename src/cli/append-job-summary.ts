import { appendFileSync } from "node:fs";
import type { Project } from "../compose.ts";
import type { CliContext } from "./commands.ts";

export interface JobSummaryFlags {
  /** False: `--no-job-summary`. */
  readonly jobSummary?: boolean;
}

/** Adds the short report of the run to the page of the CI job. That it cannot be written changes nothing about the run. */
export async function appendJobSummary(
  project: Project,
  flags: JobSummaryFlags,
  { env, stderr, version }: CliContext,
): Promise<void> {
  const file = env["GITHUB_STEP_SUMMARY"];
  if (!file || flags.jobSummary === false) return;
  const { reportOfRun } = await import("./report-of-run.ts");
  const { jobSummary } = await import("../core/run-report/markdown/job-summary.ts");
  const report = await reportOfRun(project, undefined, version);
  if (report === null) return;
  try {
    appendFileSync(file, jobSummary(report));
  } catch (error) {
    stderr.write(
      `ralph: the summary of the job cannot be written to ${file} (${(error as Error).message})\n`,
    );
  }
}
