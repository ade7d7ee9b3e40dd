import { InvalidArgumentError, Option, type Command } from "commander";
import { RalphError } from "../core/errors.ts";
import { parseDuration } from "../core/time.ts";

/** What a run is to do, whoever drives it. */
export function withRunOptions(command: Command): Command {
  return command
    .argument("[goal]", "what is to be done, in words; without it the task source is worked on")
    .option("--check <command>", "a gate that must pass (repeatable)", collect)
    .option("-n, --max-iterations <n>", "iterations of the whole run", wholeNumber("--max-iterations"))
    .option(
      "--max-stuck <n>",
      "iterations in a row without progress; 0 is off",
      wholeNumber("--max-stuck", 0),
    )
    .option("--calls <n>", "agents started in a clock hour; 0 is off", wholeNumber("--calls", 0))
    .option("--budget <dollars>", "for this run; 0 is none", dollars("--budget"))
    .option(
      "--max-duration <duration>",
      "no iteration begins after this, e.g. 8h",
      duration("--max-duration"),
    )
    .option("--timeout <duration>", "of each iteration, e.g. 90s, 45m, 2h", duration("--timeout"))
    .addOption(
      new Option("--mode <mode>", "how long an iteration may take").choices([
        "speed",
        "standard",
        "thorough",
      ]),
    )
    .option("--agent <name>", "who works")
    .option("--model <name>", "which model the agent uses")
    .option(
      "--ralph-default-iterations <n>",
      "iterations of a roadmap's looping tasks that do not say",
      wholeNumber("--ralph-default-iterations"),
    )
    .option("--ralph-default-promise <text>", "the promise of a roadmap's looping tasks that do not say")
    .option(
      "--review-cap <n>",
      "how often later stages may send a task back, or a story is reviewed",
      wholeNumber("--review-cap"),
    )
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

export function withSourceOptions(command: Command): Command {
  return command
    .option(
      "--source <file>",
      "the file with the tasks: a checklist, a roadmap, a tasks.json, a prompt; or github, github:LABEL, plugin:NAME",
    )
    .option("--roadmap <file>", "the same, read as a roadmap")
    .option("--prompt <file>", "the same, read as one open-ended prompt");
}

export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** Reads the value of a flag that is a whole number. */
export function wholeNumber(flag: string, least = 1, most = Infinity): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
    const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new RalphError("usage", `${flag} is "${text}"; expected a whole number ${range}`);
  };
}

/** Reads the value of a flag that is a time, in milliseconds. */
export function duration(flag: string): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text);
    if (ms !== null && ms > 0) return ms;
    throw new RalphError(
      "usage",
      `${flag} is "${text}"; expected a duration such as 90s, 45m, 2h, 1h30m or 1800 (seconds)`,
    );
  };
}

function dollars(flag: string): (text: string) => number {
  return (text) => {
    if (/^\$?\d+(?:\.\d+)?$/.test(text)) return Number(text.replace("$", ""));
    throw new RalphError("usage", `${flag} is "${text}"; expected an amount of dollars such as 5 or 2.50`);
  };
}
