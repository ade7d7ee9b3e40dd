import { appendFileSync } from "node:fs";
import type { Project } from "../compose.ts";
import { jobSummary } from "../core/run-report/markdown/job-summary.ts";
import type { CliContext } from "./commands.ts";
import { reportOfRun } from "./report-of-run.ts";

/** Adds the short report of the run to the page of the CI job. That it cannot be written changes nothing about the run. */
export async function appendJobSummary(
  project: Project,
  { env, stderr, version }: CliContext,
): Promise<void> {
  const file = env["GITHUB_STEP_SUMMARY"];
  if (!file) return;
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
