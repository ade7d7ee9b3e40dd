import { InvalidArgumentError, Option, type Command } from "commander";

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
