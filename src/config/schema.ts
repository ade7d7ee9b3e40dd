import { formatDuration } from "../core/time.ts";
import { z } from "zod";
import { type Complexity, DEFAULT_COMPLEXITY } from "../core/limits/iteration-timeout.ts";
import { readAllowedHost } from "../core/network/allowed-hosts.ts";
import { NOTICE_KINDS } from "../core/notices/notice.ts";
import {
  breaker,
  choice,
  count,
  countFrom,
  countTo,
  duration,
  durationBetween,
  durationOrOff,
  flag,
  LANES_MAX,
  limits,
  listOf,
  price,
} from "./value-schemas.ts";

const variables = z.record(z.string(), z.string());

/** `[agents.NAME]`: a program of the operator's own, or what is to be different about one that we know. */
const agent = z.strictObject({
  command: z
    .array(z.string())
    .min(1)
    .optional()
    .describe(
      "program and arguments; `{prompt}` and `{prompt_file}` are replaced, otherwise the prompt comes on stdin. Without it: how we call the known agent of this name or `format`",
    ),
  format: z
    .enum(["text", "claude", "codex", "gemini", "opencode", "copilot", "acp"])
    .optional()
    .describe(
      "what it speaks: plain text, the stream of one of these agents, or the Agent Client Protocol; `text` unless said",
    ),
  model: z.string().min(1).optional().describe("which model it uses; its own choice unless said"),
  args: listOf(z.string(), "more arguments for a known agent, after ours"),
  session: choice(
    ["fresh", "resume"],
    "fresh",
    "`resume`: an iteration goes on with the session of the task's iteration before, if this run made it",
  ),
  permission_mode: choice(
    ["full", "edits", "own"],
    "full",
    "what a known agent may do without asking: everything; change files, commands as its own rules say; or only what its own settings allow",
  ),
  script: z
    .string()
    .optional()
    .describe("of the demo agent: the file with its script, relative to the root of the repository"),
  env: variables.default({}).describe("added to the agent's environment"),
  env_deny: listOf(z.string(), 'taken out of the agent\'s environment, e.g. `["ANTHROPIC_API_KEY"]`'),
});

/** `[github]`: which issues are tasks, with `source = "github"`. */
const github = z.strictObject({
  label: z
    .string()
    .min(1)
    .default("ralph")
    .describe("issues with this label are tasks; whoever may set it decides what agents work on"),
  repo: z.string().default("").describe("`owner/name`; empty: the repository that `gh` finds by the remotes"),
  when_done: choice(
    ["close", "comment"],
    "close",
    "`close`: an accepted issue gets a comment and is closed; `comment`: it gets the comment, loses the label, and people close it",
  ),
});

const YEARS_10 = 3_650;

const logs = z.strictObject({
  keep_days: countTo(YEARS_10)
    .default(30)
    .describe(
      "transcripts and prompts of iterations that are older are deleted when a run starts; 0 keeps them for ever",
    ),
});

/** `[notify]`: how people are told what happens while they are elsewhere. */
const notify = z.strictObject({
  desktop: flag(false, "a notification of this machine's desktop"),
  webhook: z
    .string()
    .refine((url) => url === "" || isWebAddress(url), {
      // What is written there may let anybody write to a channel.
      error: 'expected a web address, such as "https://example.com/ralph"',
    })
    .default("")
    .describe(
      "an address to which each notice is posted; whoever knows it can write there, so the variable is the better place",
    ),
  format: choice(
    ["auto", "json", "slack", "discord"],
    "auto",
    "the form of what is posted; `auto` knows Slack and Discord by the address, all else gets JSON",
  ),
  secret: z
    .string()
    .default("")
    .describe(
      "signs what is posted, as `X-Ralph-Signature: sha256=…`, the HMAC of the body; the variable is the better place",
    ),
  command: z
    .string()
    .default("")
    .describe("run by the shell for each notice, which is JSON on its stdin; it has 30 seconds"),
  on: z
    .array(z.enum(NOTICE_KINDS))
    .default([...NOTICE_KINDS])
    .describe(
      "what is worth a notice; `done`: every task is; `ended`: the run is over for another reason, and nobody stopped it",
    ),
});

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
}

/** `[queue]`: where machines that work together keep what they know. */
const queue = z.strictObject({
  url: z
    .string()
    .refine((url) => url === "" || isDatabase(url), {
      // What is written there may hold a password.
      error: 'expected the address of a Postgres database, such as "postgres://user@host:5432/name"',
    })
    .default("")
    .describe(
      "the Postgres database that the project's log and its waiting tasks are in, for several machines; empty: this machine works alone",
    ),
  lease: durationBetween("2s", "1h")
    .prefault("30s")
    .describe("a worker that says nothing for so long counts as dead, and another goes on with its tasks"),
});

function isDatabase(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url);
}

const place = z
  .string()
  .refine((path) => /^(?:\/|~(?:\/|$))/.test(path), { error: "expected a path that begins with / or ~/" });
const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: "expected the name of a variable" });
const host = z.string().superRefine((text, context) => {
  const entry = readAllowedHost(text);
  if (typeof entry === "string") context.addIssue({ code: "custom", message: entry });
});

/** `[sandbox]`: what agents run in. */
const sandbox = z.strictObject({
  kind: choice(
    ["none", "bubblewrap", "docker"],
    "none",
    "what agents run in; gates and the set-up of worktrees always run outside, since they are the project's own",
  ),
  network: z
    .union([z.enum(["on", "off"]), z.array(host)])
    .default("on")
    .describe(
      '`off`: an agent reaches nothing but itself, and so no model that is elsewhere; a list: these hosts and nobody else, in bubblewrap only, e.g. `["api.anthropic.com", "*.npmjs.org", "127.0.0.1:5432"]`',
    ),
  image: z.string().default("").describe("of docker: has the agent's program, git and a shell"),
  read: listOf(place, 'further places that agents see and cannot change, e.g. `["~/.cargo", "~/.rustup"]`'),
  write: listOf(place, 'further places that agents may change, e.g. `["~/.cache/pip"]`'),
  env: listOf(variable, 'variables that agents get although they look secret, e.g. `["NPM_TOKEN"]`'),
});

/** `[stages.NAME]`, in the order of the file. */
const stage = z.strictObject({
  enabled: flag(true, "false: a single pass instead of a loop, which needs no promise"),
  max_iterations: countTo(10_000)
    .min(1)
    .optional()
    .describe("of the stage's loop; 15 for `coder`, 5 for `reviewer` and `qa`, 10 for any other"),
  completion_promise: z
    .string()
    .min(1)
    .optional()
    .describe(
      "what its agent prints when it has nothing against the work; IMPLEMENTATION_COMPLETE, REVIEW_COMPLETE, TESTS_COMPLETE, QA_PASSED for the four, STAGE_COMPLETE for any other",
    ),
  kind: z
    .enum(["coder", "reviewer", "tester", "qa", "other"])
    .optional()
    .describe(
      "its words in the prompt and its rules; unless said, as its name begins: code, review, test, qa",
    ),
  agent: z.string().min(1).optional().describe("who works in it; the task's or the run's unless said"),
  model: z.string().min(1).optional().describe("which model that agent uses there"),
});

const review = z.strictObject({
  enabled: flag(true, "stories with review fields go through the review cycle; `--skip-review` turns it off"),
  cap: countTo(1_000)
    .min(1)
    .default(5)
    .describe(
      "how often later stages may send a task back, then a person is asked; or how often a story is reviewed, then it is approved",
    ),
});

/** `[unblock]`: what happens to blocked tasks without a person. */
const unblock = z.strictObject({
  auto_suggest: flag(
    true,
    "a run that ends with blocked tasks says what would help, as `ralph blocked --suggest` does",
  ),
  max_auto_unblock_attempts: z
    .number()
    .int()
    .min(0)
    .default(1)
    .describe(
      "how often a task that only timeouts have blocked is tried again by the next run, with twice its last timeout (above `max_timeout` too); 0 is off",
    ),
});

const when = z.enum(["auto", "always", "never"]).default("auto");

/** `[verify]`: how a claim is looked at once the gates are green. */
const verify = z.strictObject({
  old_checks: when.describe(
    "run the gates once more with the check files (tests, settings of checkers, scripts of gates) as they were before the task; `auto`: unless a test file only gained lines that switch nothing off",
  ),
  old_checks_fail: choice(
    ["ask", "reject", "accept"],
    "ask",
    "what follows when the old checks fail, and nobody but the agent agrees: ask a person, or decide",
  ),
  reader: when.describe(
    "a second reader, an agent without memory of the work, judges the claim; `auto`: when Ralph has a concern, or no gate is configured",
  ),
  reader_agent: z
    .string()
    .default("")
    .describe(
      "who reads: the name of an agent; empty: the task's own agent, if it is a program that Ralph knows how to start",
    ),
  reader_model: z.string().default("").describe("the reader's model; empty: the one that its agent has"),
});

const text = z.string().min(1);

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
  required: flag(true, "false: its failure is reported and does not count"),
  on_missing: choice(
    ["fail", "warn", "skip"],
    "fail",
    "program not installed: `fail` refuses the run, `warn` and `skip` go on without the gate",
  ),
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
  on_baseline: choice(
    ["require", "tolerate"],
    "require",
    "`tolerate`: what failed before the agent began may go on failing, only new failures count",
  ),
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

export const MAX_STUCK = 3;

const run = z.strictObject({
  max_iterations: count.min(1).default(50).describe("of the whole run"),
  max_stuck: count
    .default(MAX_STUCK)
    .describe("iterations in a row without progress, then a task is blocked; 0 is off"),
  max_attempts: count.default(3).describe("failed iterations in a row on one task, then it is blocked"),
  parallel: countFrom(1, LANES_MAX)
    .default(1)
    .describe("lanes: so many tasks at a time, each in a worktree and on a branch of its own"),
  keep_going: flag(
    true,
    "a blocked, undecided or stuck task does not stop the run; the exit code still tells",
  ),
  gates_every_iteration: flag(false, "gates also run when the agent does not claim to be done"),
  idle_timeout: durationOrOff
    .prefault("10m")
    .describe(
      "an agent is ended after so long without output, tool call, change in the work tree and CPU use; 0 is off",
    ),
  adaptive_iterations: flag(
    false,
    "a task's iteration limit grows with its complexity, unless the task gives its own",
  ),
  retries: count
    .default(3)
    .describe("transient failures in a row that are tried again; they are no iterations"),
  fallback_agents: listOf(text, "who takes over, in this order, from an agent that is suspended or limited"),
});

const promise = z.strictObject({
  completion: text.default("COMPLETE").describe("what the agent prints as `<promise>…</promise>` when done"),
  require_xml: flag(
    true,
    "false: the plain text counts too, in any case (also written `require_xml_format`)",
  ),
  verify: flag(
    true,
    "false: named files and contradictions in the agent's words are not held against its claim; changes and gates still are",
  ),
});

const git = z.strictObject({
  commit: choice(
    ["ralph", "agent"],
    "ralph",
    "`ralph`: what the agent leaves uncommitted is committed after each iteration; `agent`: a claim with a dirty tree is rejected",
  ),
  merge: choice(
    ["squash", "merge", "rebase", "none", "pr"],
    "squash",
    "how the work of a worktree's branch is brought to the base; `none` leaves the branches as the result, `pr` opens pull requests with `gh`",
  ),
  hooks: flag(false, "ralph's own commits run the repository's hooks and signing"),
  unaccepted: choice(
    ["aside", "keep"],
    "aside",
    "work of a task that is left without being accepted: `aside` moves it to the branch `ralph/aside/TASK` until the task goes on, `keep` leaves it on your branch",
  ),
});

const worktree = z.strictObject({
  setup: z
    .string()
    .default("")
    .describe("run once in a new worktree, e.g. `npm ci`; its failure blocks only that task"),
  include: listOf(text, 'untracked files to copy in, e.g. `[".env"]`'),
});

const protect = z.strictObject({
  paths: listOf(
    text,
    "globs of files that the agent must not change; Ralph's configuration and plugins always are",
  ),
});

const interventions = z.strictObject({
  enabled: flag(true, "false: events are recorded, nothing is fed back"),
  threshold_no_files: count
    .default(3)
    .describe(
      "iterations without a changed file in the window that lead to strong reinforcement, one more to suspension; 0 is off",
    ),
  threshold_false_completion: count.default(2).describe("the same for false claims of completion"),
  window: count.min(1).default(5).describe("iterations of a task at which the two thresholds look"),
  feedback_rotation_days: count.min(1).default(30).describe("events older than this are compressed"),
  aggressive_mode: flag(false, "strong reinforcement from the first event on"),
  mid_stream: flag(false, "experimental: one correction while the agent runs, for agents that take messages"),
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
    enabled: flag(
      true,
      "false: an iteration may take as long as its mode says, and nothing else here counts",
    ),
    complexity_scaling: flag(true, "false: tasks of all levels get the same time"),
    failure_scaling: flag(true, "false: a timeout does not raise the next one"),
    max_timeout: duration.prefault(3_600).describe("no iteration gets more, whatever the rest comes to"),
    min_timeout: duration.prefault(60).describe("no iteration gets less"),
    timeout_multiplier_per_failure: z
      .number()
      .min(1)
      .default(1.5)
      .describe("how many times longer an iteration may take after each timeout of its task"),
    learn: flag(
      true,
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
  mode: choice(
    ["speed", "standard", "thorough"],
    "standard",
    "how long an iteration may take: 2, 15 or 30 minutes, adapted as `[adaptive_timeout]` says",
  ),
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
  verify: verify.prefault({}).describe("how a claim is looked at once the gates are green"),
  sandbox: sandbox.prefault({}).describe("what agents run in, so that they see and change little else"),
  interventions: interventions.prefault({}).describe("how agents are corrected"),
  adaptive_timeout: adaptiveTimeout
    .prefault({})
    .describe(
      "how the time for an iteration fits the task; a timeout that is given for a task or a run is exact",
    ),
  plugins: listOf(
    text,
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
