import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makeRepository } from "../repositories.ts";
import { RALPH } from "../sample-project.ts";
import { BARE_ENV, mustRun } from "../samples.ts";
import type { Sample } from "./sampler.ts";

export interface Soak {
  readonly folder: string;
  readonly iterations: number;
  readonly samples: readonly Sample[];
  /** When each began, as the log has it. */
  readonly starts: readonly number[];
  readonly exitCode: number | null;
  /** What `.ralph/` says, and what the log says. */
  readonly rows: number;
  readonly verdicts: number;
  readonly statusIterations: number;
  readonly looseObjects: number;
  readonly packs: number;
  readonly logBytes: number;
}

/** Of a hundred iterations five finish a task; one more than all is left in the end. */
const TASKS_PER_ITERATION = 1 / 20;
const SAMPLER = pathToFileURL(join(import.meta.dirname, "sampler.ts")).href;

/**
 * As cheap as an iteration can be that is still one: a changed file that ralph commits, now and then a failure, a
 * false claim and a task that is done.
 */
const AGENT = `n=$RALPH_ITERATION
case $n in
  *9) echo "error: cannot read part $n" >&2; exit 1;;
  *45) echo "<promise>COMPLETE</promise>"; exit 0;;
esac
echo $n > work.txt
case $n in *20|*40|*60|*80|*00) echo "<promise>COMPLETE</promise>";; *) echo "part $n is written";; esac`;

/** Runs it to its end; the folder is the caller's. */
export async function runSoak(iterations: number): Promise<Soak> {
  const repository = makeRepository(2, 5);
  repository.reset(files(iterations));
  // Where neither the agent nor git looks.
  const samplesPath = join(repository.folder, ".git", "soak-samples.jsonl");
  const env = { ...BARE_ENV, NODE_OPTIONS: `--import ${SAMPLER}`, SOAK_SAMPLES: samplesPath };
  const child = spawn(RALPH, ["run", "--quiet", "--keep-going", "--calls", "0"], {
    cwd: repository.folder,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { ...readBack(repository.folder, samplesPath), iterations, exitCode };
}

function files(iterations: number): Readonly<Record<string, string>> {
  const tasks = Math.ceil(iterations * TASKS_PER_ITERATION) + 1;
  const boxes = Array.from({ length: tasks }, (_, index) => `- [ ] **task-${index + 1}**: make it\n`);
  const config = [
    'agent = "stub"',
    "[run]",
    `max_iterations = ${iterations}`,
    "max_stuck = 0",
    "max_attempts = 0",
    "retries = 0",
    "[breaker]",
    "no_progress = 0",
    "same_error = 0",
    "output_decline = 0",
    "[[gates]]",
    'name = "check"',
    'command = "test -f work.txt"',
    "[agents.stub]",
    `command = ["sh", "-c", ${JSON.stringify(AGENT)}]`,
  ];
  return { "TODO.md": boxes.join(""), ".ralph/ralph.toml": `${config.join("\n")}\n` };
}

function readBack(folder: string, samplesPath: string): Omit<Soak, "iterations" | "exitCode"> {
  const events = jsonLines(mustRun(RALPH, ["history", "--jsonl"], folder)) as readonly {
    readonly type: string;
    readonly at: string;
  }[];
  const status = JSON.parse(readFileSync(join(folder, ".ralph", "status.json"), "utf8")) as {
    readonly run: { readonly iterations: number } | null;
  };
  const objects = mustRun("git", ["count-objects", "-v"], folder);
  const count = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(objects)?.[1]);
  return {
    folder,
    samples: jsonLines(readFileSync(samplesPath, "utf8")) as readonly Sample[],
    starts: events.filter(({ type }) => type === "iteration.started").map(({ at }) => Date.parse(at)),
    verdicts: events.filter(({ type }) => type === "verdict.reached").length,
    rows: readFileSync(join(folder, ".ralph/logs/summary.csv"), "utf8").trimEnd().split("\n").length - 1,
    statusIterations: status.run?.iterations ?? 0,
    looseObjects: count("count"),
    packs: count("packs"),
    logBytes: readFileSync(join(folder, ".git/ralph/state.db")).length,
  };
}

function jsonLines(text: string): readonly unknown[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}
