import { z } from "zod";
import { formatDuration } from "../core/duration.ts";
import { DEFAULT_COMPLEXITY, type Complexity } from "../core/limits/complexity.ts";
import { agent } from "./agent-schema.ts";
import { breaker, limits, price } from "./brakes-schema.ts";
import { count, countFrom, countTo, LANES_MAX } from "./count-schema.ts";
import { duration, durationOrOff } from "./duration-schema.ts";
import { github } from "./github-schema.ts";
import { logs } from "./logs-schema.ts";
import { notify } from "./notify-schema.ts";
import { queue } from "./queue-schema.ts";
import { sandbox } from "./sandbox-schema.ts";
import { review, stage } from "./stage-schema.ts";
import { unblock } from "./unblock-schema.ts";

const text = z.string().min(1);
const variables = z.record(z.string(), z.string());

const expectation = z.strictObject({
  exit_code: countTo(255).default(0).describe("in `expect`: the exit code of a gate that passes"),
  output_contains: text
    .optional()
    .describe("in `expect`: a text that its output must have somewhere, on stdout or stderr"),
  output_not_contains: text.optional().describe("in `expect`: a text that its output must not have"),
});

const gate = z.strictObject({
  name: text.describe("how it is called in verdicts and reports; each gate has its own"),
  command: text.describe("run by the shell; the gate passes when it exits with 0, or as `expect` says"),
  timeout: duration.prefault("10m").describe("then the gate is ended and counts as failed"),
  required: z.boolean().default(true).describe("false: its failure is reported and does not count"),
  on_missing: z
    .enum(["warn", "fail", "skip"])
    .default("warn")
    .describe("what it means when the gate's program is not installed"),
  cwd: z.string().optional().describe("folder to run in, relative to the root of the repository"),
  env: variables.default({}).describe("added to the gate's environment"),
  kind: text
    .optional()
    .describe('what it checks, in a word; a gate of kind "test", or with "test" in its name, runs the tests'),
  retries: countTo(10)
    .default(0)
    .describe("how many more times it is run when it fails, for gates that fail by chance; at most 10"),
  expect: expectation
    .prefault({})
    .describe('what passing means, e.g. `{ exit_code = 0, output_contains = "passed" }`'),
  on_baseline: z
    .enum(["require", "tolerate"])
    .default("require")
    .describe("`tolerate`: what failed before the agent began may go on failing, only new failures count"),
});

const gates = z.array(gate).superRefine((all, context) => {
  for (const [index, { name }] of all.entries()) {
    if (all.findIndex((other) => other.name === name) === index) continue;
    context.addIssue({
      code: "custom",
      path: [index, "name"],
      message: `another gate is called "${name}" too; give each its own name`,
    });
  }
});

const run = z.strictObject({
  max_iterations: count.min(1).default(50).describe("of the whole run"),
  max_stuck: count.default(3).describe("iterations in a row without progress that end the run; 0 is off"),
  max_attempts: count.default(3).describe("failed iterations in a row on one task, then it is blocked"),
  parallel: countFrom(1, LANES_MAX)
    .default(1)
    .describe("lanes: so many tasks at a time, each in a worktree and on a branch of its own"),
  keep_going: z.boolean().default(false).describe("a blocked or undecided task does not stop the run"),
  gates_every_iteration: z
    .boolean()
    .default(false)
    .describe("gates also run when the agent does not claim to be done"),
  idle_timeout: durationOrOff
    .prefault("10m")
    .describe(
      "an agent is ended after so long without output, tool call, change in the work tree and CPU use; 0 is off",
    ),
  adaptive_iterations: z
    .boolean()
    .default(false)
    .describe("a task's iteration limit grows with its complexity, unless the task gives its own"),
  retries: count
    .default(3)
    .describe("transient failures in a row that are tried again; they are no iterations"),
  fallback_agents: z
    .array(text)
    .default([])
    .describe("who takes over, in this order, when an agent is suspended, or while it is limited"),
});

const promise = z.strictObject({
  completion: text.default("COMPLETE").describe("what the agent prints as `<promise>…</promise>` when done"),
  require_xml: z
    .boolean()
    .default(true)
    .describe("false: the plain text counts too, in any case (also written `require_xml_format`)"),
  verify: z
    .boolean()
    .default(true)
    .describe(
      "false: named files and contradictions in the agent's words are not held against its claim; changes and gates still are",
    ),
});

const git = z.strictObject({
  commit: z
    .enum(["ralph", "agent"])
    .default("ralph")
    .describe(
      "`ralph`: what the agent leaves uncommitted is committed after each iteration; `agent`: a claim with a dirty tree is rejected",
    ),
  merge: z
    .enum(["squash", "merge", "rebase", "none", "pr"])
    .default("squash")
    .describe(
      "how the work of a worktree's branch is brought to the base; `none` leaves the branches as the result, `pr` opens pull requests with `gh`",
    ),
  hooks: z.boolean().default(false).describe("ralph's own commits run the repository's hooks and signing"),
});

const worktree = z.strictObject({
  setup: z
    .string()
    .default("")
    .describe("run once in a new worktree, e.g. `npm ci`; its failure blocks only that task"),
  include: z.array(text).default([]).describe('untracked files to copy in, e.g. `[".env"]`'),
});

const protect = z.strictObject({
  paths: z
    .array(text)
    .default([])
    .describe(
      "globs of files that the agent must not change; the configuration and the scripts that gates run always are",
    ),
  weakened_tests: z
    .enum(["reject", "warn", "off"])
    .default("reject")
    .describe("what happens when tests are deleted, skipped or emptied, and the task does not say so"),
});

const interventions = z.strictObject({
  enabled: z.boolean().default(true).describe("false: events are recorded, nothing is fed back"),
  threshold_no_files: count
    .default(3)
    .describe(
      "iterations without a changed file in the window that lead to strong reinforcement, one more to suspension; 0 is off",
    ),
  threshold_false_completion: count.default(2).describe("the same for false claims of completion"),
  window: count.min(1).default(5).describe("iterations of a task at which the two thresholds look"),
  feedback_rotation_days: count.min(1).default(30).describe("events older than this are compressed"),
  aggressive_mode: z.boolean().default(false).describe("strong reinforcement from the first event on"),
  mid_stream: z
    .boolean()
    .default(false)
    .describe("experimental: one correction while the agent runs, for agents that take messages"),
});

function complexityLevel(name: Complexity) {
  const { multiplier, keywords } = DEFAULT_COMPLEXITY[name];
  return z.strictObject({
    multiplier: z
      .number()
      .min(0.1)
      .default(multiplier)
      .describe(`in \`complexity.${name}\`: what the mode's timeout is multiplied with`),
    keywords: z
      .array(text)
      .default([...keywords])
      .describe(`in \`complexity.${name}\`: words that a task of it has, whole and in any case`),
  });
}

const complexity = z.strictObject({
  simple: complexityLevel("simple").prefault({}).describe("the lowest level"),
  medium: complexityLevel("medium").prefault({}).describe("the level of tasks without any of the keywords"),
  complex: complexityLevel("complex").prefault({}).describe("the level above `medium`"),
  ui_heavy: complexityLevel("ui_heavy").prefault({}).describe("the highest level"),
});

const adaptiveTimeout = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe("false: an iteration may take as long as its mode says, and nothing else here counts"),
    complexity_scaling: z.boolean().default(true).describe("false: tasks of all levels get the same time"),
    failure_scaling: z.boolean().default(true).describe("false: a timeout does not raise the next one"),
    max_timeout: duration.prefault(3_600).describe("no iteration gets more, whatever the rest comes to"),
    min_timeout: duration.prefault(60).describe("no iteration gets less"),
    timeout_multiplier_per_failure: z
      .number()
      .min(1)
      .default(1.5)
      .describe("how many times longer an iteration may take after each timeout of its task"),
    learn: z
      .boolean()
      .default(true)
      .describe(
        "after five accepted iterations of the same agent and level, twice their 95th percentile instead of the mode's timeout and the multiplier",
      ),
    complexity: complexity
      .prefault({})
      .describe(
        "levels of tasks; the highest with a keyword in title, description or criteria counts, more than 3 criteria make it one higher",
      ),
  })
  .superRefine(({ min_timeout: least, max_timeout: most }, context) => {
    if (least <= most) return;
    context.addIssue({
      code: "custom",
      path: ["min_timeout"],
      message: `${formatDuration(least)} is longer than "max_timeout", which is ${formatDuration(most)}; lower the one or raise the other`,
    });
  });

/** Everything that may stand in `.ralph/ralph.toml`, with its defaults. */
export const configSchema = z.strictObject({
  agent: text.default("claude").describe("who works: the name of an agent"),
  source: text
    .default("auto")
    .describe("the file with the tasks; `auto` looks for one, `github` takes issues as `[github]` says"),
  mode: z
    .enum(["speed", "standard", "thorough"])
    .default("standard")
    .describe("how long an iteration may take: 2, 15 or 30 minutes, adapted as `[adaptive_timeout]` says"),
  run: run.prefault({}).describe("when to go on and when to stop"),
  limits: limits.prefault({}).describe("what a run may use: calls, money, time"),
  breaker: breaker.prefault({}).describe("when going on would be a waste"),
  prices: z
    .record(z.string(), price)
    .default({})
    .describe("by the name of a model, for agents that tell their tokens and not what these cost"),
  promise: promise.prefault({}).describe("how the agent says that it is done"),
  gates: gates.default([]).describe("commands of the project that must pass before a task is done"),
  agents: z
    .record(z.string(), agent)
    .default({})
    .describe("programs that can be named as `agent`, and changes to the built-in ones"),
  stages: z
    .record(z.string(), stage)
    .default({})
    .describe("a pipeline, in the order of the file; without any there is one stage, `build`"),
  review: review.prefault({}).describe("whether stories are reviewed, and how often work is sent back"),
  git: git.prefault({}).describe("who commits, and how"),
  worktree: worktree.prefault({}).describe("how the worktree of a task is made ready"),
  protect: protect.prefault({}).describe("what the agent must not change"),
  sandbox: sandbox.prefault({}).describe("what agents run in, so that they see and change little else"),
  interventions: interventions.prefault({}).describe("how agents are corrected"),
  adaptive_timeout: adaptiveTimeout
    .prefault({})
    .describe(
      "how the time for an iteration fits the task; a timeout that is given for a task or a run is exact",
    ),
  plugins: z
    .array(text)
    .default([])
    .describe(
      "code of the project's own, by path (`./my-plugin.ts`, from the root of the repository) or by the name of an installed package",
    ),
  unblock: unblock.prefault({}).describe("what happens to blocked tasks by itself"),
  github: github.prefault({}).describe('the issues that are tasks, with `source = "github"`'),
  logs: logs.prefault({}).describe("how long what agents print is kept"),
  notify: notify.prefault({}).describe("how people are told what happens while they are elsewhere"),
  queue: queue.prefault({}).describe("how several machines work on one project"),
});

/** What the operator wrote, with the defaults. */
export type Config = z.output<typeof configSchema> & {
  /** Not a key of its own: the trees of `config.yaml` have it. */
  readonly maxIterationsPerTask: number;
};
