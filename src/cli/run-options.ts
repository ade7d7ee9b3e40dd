import { appendFileSync } from "node:fs";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { CliContext } from "./commands.ts";
import {
  githubPlace,
  usualPlace,
  type Project,
  type RoadmapDefaults,
  type SourceRequest,
} from "../compose.ts";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../core/ralph-error.ts";

/** What a run is to do, whoever drives it. */
export function withRunOptions(command: Command): Command {
  return command
    .argument("[goal]", "what is to be done, in words; without it the task source is worked on")
    .option("--check <command>", "a gate that must pass (repeatable)", collect)
    .option("-n, --max-iterations <n>", "iterations of the whole run")
    .option("--max-stuck <n>", "iterations in a row without progress; 0 is off")
    .option("--calls <n>", "agents started in a clock hour; 0 is off")
    .option("--budget <dollars>", "for this run; 0 is none")
    .option("--max-duration <duration>", "no iteration begins after this, e.g. 8h")
    .option("--timeout <duration>", "of each iteration, e.g. 90s, 45m, 2h")
    .addOption(
      new Option("--mode <mode>", "how long an iteration may take").choices([
        "speed",
        "standard",
        "thorough",
      ]),
    )
    .option("--agent <name>", "who works")
    .option("--model <name>", "which model the agent uses")
    .option("--ralph-default-iterations <n>", "iterations of a roadmap's looping tasks that do not say")
    .option("--ralph-default-promise <text>", "the promise of a roadmap's looping tasks that do not say")
    .option("--review-cap <n>", "how often later stages may send a task back, or a story is reviewed")
    .option("--skip-review", "stories with review fields go without the review cycle")
    .option("--task <id>", "only this task (repeatable)", collect)
    .option("--include-optional", "work on optional tasks too, after all others")
    .option("--no-changes-needed", "the goal is reached without a change of files")
    .option("--no-interventions", "record what goes wrong, but do not tell the agent")
    .option("--no-job-summary", "write nothing to the file that GITHUB_STEP_SUMMARY names");
}

/** What the agents of a machine run in. */
export function withSandboxOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--sandbox [kind]", "run agents in a sandbox, apart from the rest of the machine")
        .choices(KINDS)
        .argParser(sandboxKind),
    )
    .option("--no-sandbox", "run agents like any other program, whatever is configured");
}

const KINDS = ["bubblewrap", "docker"];

/** Before anything else: a goal that stands there would be missed as a goal, too. */
function sandboxKind(text: string): string {
  if (KINDS.includes(text)) return text;
  throw new InvalidArgumentError(
    `Allowed choices are ${KINDS.join(", ")}; a goal comes before it: ralph run "${text}" --sandbox`,
  );
}

export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** Which tasks, as typed. */
export interface SourceFlags {
  readonly source?: string;
  readonly roadmap?: string;
  readonly prompt?: string;
  readonly ralphDefaultIterations?: string;
  readonly ralphDefaultPromise?: string;
  /** False: `--no-changes-needed`. */
  readonly changesNeeded?: boolean;
}

export function withSourceOptions(command: Command): Command {
  return command
    .option(
      "--source <file>",
      "the file with the tasks: a checklist, a roadmap, a tasks.json, a prompt; or github, github:LABEL, plugin:NAME",
    )
    .option("--roadmap <file>", "the same, read as a roadmap")
    .option("--prompt <file>", "the same, read as one open-ended prompt");
}

const PLUGIN = "plugin:";
const EXAMPLES: Readonly<Record<string, string>> = {
  source: "TODO.md",
  roadmap: "roadmap.md",
  prompt: "PROMPT.md",
};

/** Words win over flags, flags over the configuration. Flags count from `cwd`, the configuration from `root`. */
export function sourceRequest(
  goal: string | undefined,
  { source, roadmap, prompt, changesNeeded = true }: SourceFlags,
  config: Pick<Config, "source" | "github">,
  { cwd, root, env }: { readonly cwd: string; readonly root: string; readonly env: NodeJS.ProcessEnv },
): SourceRequest {
  const given = Object.entries({ source, roadmap, prompt }).filter(([, path]) => path !== undefined);
  if (given.length > 1) throw new RalphError("usage", "give one of --source, --roadmap and --prompt");
  const [flag] = given.find(([, path]) => path?.trim() === "") ?? [];
  if (flag !== undefined)
    throw new RalphError("usage", `--${flag} is empty`, {
      hint: `name the file that has the tasks: --${flag} ${EXAMPLES[flag]}`,
    });
  if (goal?.trim() === "")
    throw new RalphError("usage", "the goal is empty", {
      hint: "say what is wanted, or leave it out to work on the list: ralph run",
    });
  if (goal !== undefined) return { is: "goal", goal, ...(!changesNeeded && { changes: "none" }) };
  if (!changesNeeded)
    throw new RalphError("usage", "--no-changes-needed is about a goal, and there is none", {
      hint: "say it of a task in the list, where it has properties: changes: none",
    });
  if (roadmap !== undefined) return { is: "file", path: roadmap, base: cwd, kind: "roadmap" };
  if (prompt !== undefined) return { is: "file", path: prompt, base: cwd, kind: "prompt" };
  const named = source ?? config.source;
  if (named.startsWith(PLUGIN)) return { is: "plugin", name: named.slice(PLUGIN.length) };
  const place = githubPlace(named, usualPlace(config));
  if (place !== null) return { is: "github", place, env };
  if (source !== undefined) return { is: "file", path: source, base: cwd };
  return config.source === "auto" ? { is: "auto" } : { is: "file", path: config.source, base: root };
}

/** What tasks of a roadmap get that loop and do not say themselves. */
export function roadmapDefaults(flags: SourceFlags): RoadmapDefaults {
  const { ralphDefaultIterations: text, ralphDefaultPromise: promise } = flags;
  const isCount = text === undefined || (/^\d+$/.test(text) && Number(text) >= 1);
  if (!isCount)
    throw new RalphError(
      "usage",
      `--ralph-default-iterations is "${text}"; expected a whole number of at least 1`,
    );
  if (promise?.trim() === "") throw new RalphError("usage", "--ralph-default-promise is empty");
  return { defaultIterations: text === undefined ? undefined : Number(text), defaultPromise: promise };
}

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
  const { reportOfRun } = await import("./commands/report.ts");
  const { jobSummary } = await import("../core/run-report/markdown-report.ts");
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
