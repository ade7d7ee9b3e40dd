import { z } from "zod";
import { type Complexity, DEFAULT_COMPLEXITY } from "../core/loop/iteration-timeout.ts";
import { readAllowedHost } from "../core/network/allowed-hosts.ts";
import { formatDuration, parseDuration } from "../core/time.ts";
import { NOTICE_KINDS } from "../core/views/notice.ts";

/** So many tasks may be worked on at a time. */
export const LANES_MAX = 100;
/** Without a number: more would only wait for the machine. */
export const LANES_BY_CORES = 4;
export const MAX_STUCK = 3;

const text = z.string().min(1);
const count = z.number().int().min(0);
const amount = z.number().min(0);
const variables = z.record(z.string(), z.string());

function countFrom(least: number, most: number): typeof count {
  return count
    .refine((value) => value >= least && value <= most, {
      error: ({ input }) => `expected a whole number from ${least} to ${most}, got ${String(input)}`,
    })
    .meta({ minimum: least, maximum: most });
}

/** In the file a text or a number of seconds, in the program milliseconds. */
const duration = durationOf('a duration longer than 0, such as "90s", "45m", "2h" or "1h30m"', 1);
const durationOrOff = durationOf('a duration, such as "90s", "45m" or "2h", or "0" for off', 0);

function durationOf(expected: string, leastMs: number, mostMs = Infinity) {
  const schema = z.union([z.string(), z.number()]).transform((value, context) => {
    const ms = parseDuration(String(value));
    if (ms !== null && ms >= leastMs && ms <= mostMs) return ms;
    context.addIssue({ code: "custom", message: `expected ${expected}, got ${JSON.stringify(value)}` });
    return z.NEVER;
  });
  return schema.meta({ expected });
}

function whole(byDefault: number, says: string, least = 0) {
  return count.min(least).default(byDefault).describe(says);
}

/** Nothing unless said. */
function dollars(says: string) {
  return amount.default(0).describe(says);
}

function periodOrOff(byDefault: string, says: string) {
  return durationOrOff.prefault(byDefault).describe(says);
}

function emptyText(says: string) {
  return z.string().default("").describe(says);
}

function optionalText(says: string) {
  return text.optional().describe(says);
}

function flag(byDefault: boolean, says: string) {
  return z.boolean().default(byDefault).describe(says);
}

function choice<const Words extends readonly [string, ...string[]]>(
  words: Words,
  says: string,
  byDefault: Words[number] = words[0],
) {
  return z.enum(words).default(byDefault).describe(says);
}

function listOf<Each extends z.ZodType>(each: Each, says: string) {
  return z.array(each).default([]).describe(says);
}

/** A text that may be empty; `error` does not repeat it, as it may hold a password. */
function address(isRight: (url: string) => boolean, error: string, says: string) {
  return z
    .string()
    .refine((url) => url === "" || isRight(url), { error })
    .default("")
    .describe(says);
}

/** Every key in it has a default. */
function section<Shape extends z.ZodRawShape>(says: string, shape: Shape) {
  const object = z.strictObject(shape);
  return z.prefault(object, {} as z.input<typeof object>).describe(says);
}

const run = section("when to go on and when to stop", {
  max_iterations: whole(50, "of the whole run", 1),
  max_stuck: whole(MAX_STUCK, "iterations in a row without progress, then a task is blocked; 0 is off"),
  max_attempts: whole(3, "failed iterations in a row on one task, then it is blocked"),
  parallel: countFrom(1, LANES_MAX)
    .default(1)
    .describe("lanes: so many tasks at a time, each in a worktree and on a branch of its own"),
  keep_going: flag(true, "a blocked, undecided or stuck task does not stop the run"),
  gates_every_iteration: flag(false, "gates also run when the agent does not claim to be done"),
  gates_parallel: countFrom(1, LANES_MAX).default(1).describe("so many gates run at the same time"),
  idle_timeout: periodOrOff("10m", "an agent is killed after so long without any sign of life; 0 is off"),
  adaptive_iterations: flag(false, "a task's iteration limit, unless its own, grows with its complexity"),
  retries: whole(3, "transient failures in a row that are retried; they are no iterations"),
  fallback_agents: listOf(text, "who takes over, in this order, from an agent that is suspended or limited"),
});

const limits = section("what a run may use: calls, money, time", {
  calls_per_hour: whole(100, "agents started in a clock hour, by all who share the store; 0 is off"),
  budget_usd: dollars("dollars for a run; it stops before an iteration would pass them; 0 is off"),
  budget_usd_per_task: dollars(
    "dollars for a task; it is blocked before an iteration would pass them; 0 is off",
  ),
  budget_usd_per_day: dollars("dollars for a day, for all who share the store; 0 is off"),
  max_duration: periodOrOff("0", "of a run: no iteration begins after it; 0 is off"),
});

const breaker = section("when going on would be a waste", {
  no_progress: whole(3, "iterations in a row without progress that open the breaker; 0 is off"),
  same_error: whole(5, "so many times the same error, apart from numbers and paths; 0 is off"),
  output_decline: countFrom(0, 100)
    .default(70)
    .describe("per cent by which the output is shorter than usual, twice in a row; 0 is off"),
  cooldown: periodOrOff("30m", "an open breaker lets a run try again after this; 0 is never"),
});

const price = z.strictObject({
  input_per_mtok: amount.describe("dollars for a million tokens of input"),
  output_per_mtok: amount.describe("dollars for a million tokens of output"),
  cache_read_per_mtok: dollars("dollars for a million tokens of input from a cache"),
});

const promise = section("how the agent says that it is done", {
  completion: text.default("COMPLETE").describe("what the agent prints as `<promise>…</promise>` when done"),
  require_xml: flag(true, "false: plain text counts too, in any case (also `require_xml_format`)"),
  verify: flag(true, "false: the agent's words are not held against its claim; changes and gates still are"),
});

const expectation = z.strictObject({
  exit_code: countFrom(0, 255).default(0).describe("in `expect`: the exit code of a gate that passes"),
  output_contains: optionalText("in `expect`: a text that its stdout or stderr must have"),
  output_not_contains: optionalText("in `expect`: a text that its output must not have"),
});

export const gateSchema = z.strictObject({
  name: text.describe("how it is called in verdicts and reports; each gate has its own"),
  command: text.describe("run by the shell; the gate passes when it exits with 0, or as `expect` says"),
  timeout: duration.prefault("10m").describe("then the gate is ended and counts as failed"),
  required: flag(true, "false: its failure is reported and does not count"),
  on_missing: choice(
    ["fail", "warn", "skip"],
    "program not installed: `fail` refuses the run, `warn` and `skip` go on without the gate",
  ),
  cwd: z.string().optional().describe("folder to run in, relative to the root of the repository"),
  env: variables.default({}).describe("added to the gate's environment"),
  kind: optionalText('what it checks; a gate of kind "test", or with "test" in its name, runs the tests'),
  retries: countFrom(0, 10).default(0).describe("how often it runs again when it fails, for flaky gates"),
  expect: expectation
    .prefault({})
    .describe('what passing means, e.g. `{ exit_code = 0, output_contains = "passed" }`'),
  on_baseline: choice(
    ["require", "tolerate"],
    "`tolerate`: what failed before the agent began may go on failing, only new failures count",
  ),
});

const gates = z.array(gateSchema).superRefine((all, context) => {
  for (const [index, { name }] of all.entries()) {
    if (all.findIndex((other) => other.name === name) === index) continue;
    const message = `another gate is called "${name}" too; give each its own name`;
    context.addIssue({ code: "custom", path: [index, "name"], message });
  }
});

const agent = z.strictObject({
  command: z
    .array(z.string())
    .min(1)
    .optional()
    .describe(
      "program and arguments; `{prompt}` and `{prompt_file}` are replaced, otherwise the prompt comes on stdin. Without it: how Ralph calls the known agent of this name or `format`",
    ),
  format: z
    .enum(["text", "claude", "codex", "gemini", "opencode", "copilot", "acp"])
    .optional()
    .describe("what it speaks: plain text (the default), the stream of a known agent, or ACP"),
  model: optionalText("which model it uses; its own choice unless said"),
  args: listOf(z.string(), "more arguments for a known agent, after ours"),
  session: choice(
    ["fresh", "resume"],
    "`resume`: an iteration goes on with the session of the task's iteration before, if this run made it",
  ),
  permission_mode: choice(
    ["full", "edits", "own"],
    "what a known agent may do without asking: everything; change files; or what its own settings allow",
  ),
  script: z.string().optional().describe("of the demo agent: its script, relative to the repository's root"),
  env: variables.default({}).describe("added to the agent's environment"),
  env_deny: listOf(z.string(), 'taken out of the agent\'s environment, e.g. `["ANTHROPIC_API_KEY"]`'),
});

const stage = z.strictObject({
  enabled: flag(true, "false: a single pass instead of a loop, which needs no promise"),
  max_iterations: countFrom(1, 10_000)
    .optional()
    .describe("of the stage's loop; 15 for `coder`, 5 for `reviewer` and `qa`, 10 for any other"),
  completion_promise: optionalText(
    "what its agent prints when done; IMPLEMENTATION_COMPLETE, REVIEW_COMPLETE, TESTS_COMPLETE, QA_PASSED for the four, STAGE_COMPLETE for any other",
  ),
  kind: z
    .enum(["coder", "reviewer", "tester", "qa", "other"])
    .optional()
    .describe("its prompt and its rules; unless said, as its name begins: code, review, test, qa"),
  agent: optionalText("who works in it; the task's or the run's agent unless said"),
  model: optionalText("which model that agent uses there"),
});

const review = section("whether stories are reviewed, and how often work is sent back", {
  enabled: flag(true, "stories with review fields go through the review cycle; `--skip-review` turns it off"),
  cap: countFrom(1, 1_000)
    .default(5)
    .describe(
      "how often later stages may send a task back before a person is asked, and how often a story is reviewed before it is approved",
    ),
});

const git = section("who commits, and how", {
  commit: choice(
    ["ralph", "agent"],
    "`ralph`: what the agent leaves uncommitted is committed after each iteration; `agent`: a claim with a dirty tree is rejected",
  ),
  merge: choice(
    ["squash", "merge", "rebase", "none", "pr"],
    "how a worktree's branch is merged; `none` leaves the branches, `pr` opens pull requests with `gh`",
  ),
  hooks: flag(false, "ralph's own commits run the repository's hooks and signing"),
  unaccepted: choice(
    ["aside", "keep"],
    "work that was not accepted: `aside` moves it to the branch `ralph/aside/TASK` until the task goes on, `keep` leaves it on your branch",
  ),
});

const worktree = section("how the worktree of a task is made ready", {
  setup: emptyText("run once in it, e.g. `npm ci`; its failure blocks only that task"),
  include: listOf(text, 'untracked files to copy in, e.g. `[".env"]`'),
});

const protect = section("what the agent must not change", {
  paths: listOf(text, "globs of files; Ralph's configuration and plugins are always protected"),
});

const when = z.enum(["auto", "always", "never"]).default("auto");

const verify = section("how a claim is looked at once the gates are green", {
  old_checks: when.describe(
    "run the gates once more with the check files (tests, settings of checkers, scripts of gates) as they were before the task; `auto`: unless a test file only gained lines that switch nothing off",
  ),
  old_checks_fail: choice(
    ["ask", "reject", "accept"],
    "what follows when the old checks fail, and nobody but the agent agrees: ask a person, or decide",
  ),
  reader: when.describe(
    "a second reader, an agent without memory of the work, judges the claim; `auto`: when Ralph has a concern, or no gate is configured",
  ),
  reader_agent: emptyText("who reads; empty: the task's own agent, if Ralph knows its program"),
  reader_model: emptyText("the reader's model; empty: the one that its agent has"),
  approve: choice(
    ["auto", "person"],
    "`person`: accepted work waits until you approve it; a task's own `approve` wins",
  ),
});

const place = z
  .string()
  .refine((path) => /^(?:\/|~(?:\/|$))/.test(path), { error: "expected a path that begins with / or ~/" });
const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: "expected the name of a variable" });
const host = z.string().superRefine((name, context) => {
  const entry = readAllowedHost(name);
  if (typeof entry === "string") context.addIssue({ code: "custom", message: entry });
});

const sandbox = section("what agents run in, so that they see and change little else", {
  kind: choice(
    ["none", "bubblewrap", "docker"],
    "what agents run in; gates and the set-up of worktrees always run outside",
  ),
  network: z
    .union([z.enum(["on", "off"]), z.array(host)])
    .default("on")
    .describe(
      '`off`: an agent reaches nothing but itself, and so no model that is elsewhere; a list: these hosts and nobody else, in bubblewrap only, e.g. `["api.anthropic.com", "*.npmjs.org", "127.0.0.1:5432"]`',
    ),
  image: emptyText("of docker: has the agent's program, git and a shell"),
  read: listOf(place, 'further places that agents see and cannot change, e.g. `["~/.cargo", "~/.rustup"]`'),
  write: listOf(place, 'further places that agents may change, e.g. `["~/.cache/pip"]`'),
  env: listOf(variable, 'variables that agents get although they look secret, e.g. `["NPM_TOKEN"]`'),
});

const interventions = section("how agents are corrected", {
  enabled: flag(true, "false: events are recorded, nothing is fed back"),
  threshold_no_files: whole(
    3,
    "iterations without a changed file in the window that lead to strong reinforcement, one more to suspension; 0 is off",
  ),
  threshold_false_completion: whole(2, "the same for false claims of completion"),
  window: whole(5, "iterations of a task at which the two thresholds look", 1),
  feedback_rotation_days: whole(30, "events older than this are compressed", 1),
  aggressive_mode: flag(false, "strong reinforcement from the first event on"),
  mid_stream: flag(false, "experimental: one correction while the agent runs, for agents that take messages"),
});

function complexityLevel(name: Complexity, says: string) {
  const { multiplier, keywords } = DEFAULT_COMPLEXITY[name];
  return section(says, {
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

const adaptiveTimeout = z
  .strictObject({
    enabled: flag(true, "false: an iteration may take as long as its mode says; the rest here is ignored"),
    complexity_scaling: flag(true, "false: tasks of all levels get the same time"),
    failure_scaling: flag(true, "false: a timeout does not raise the next one"),
    max_timeout: duration.prefault(3_600).describe("no iteration gets more, whatever the rest comes to"),
    min_timeout: duration.prefault(60).describe("no iteration gets less"),
    timeout_multiplier_per_failure: z
      .number()
      .min(1)
      .default(1.5)
      .describe("how many times longer an iteration may take after each timeout of its task"),
    learn: flag(true, "once known, at least twice what 95 % of the accepted iterations took"),
    complexity: section(
      "levels of tasks; the highest with a keyword in title, description or criteria counts, more than 3 criteria make it one higher",
      {
        simple: complexityLevel("simple", "the lowest level"),
        medium: complexityLevel("medium", "the level of tasks without any of the keywords"),
        complex: complexityLevel("complex", "the level above `medium`"),
        ui_heavy: complexityLevel("ui_heavy", "the highest level"),
      },
    ),
  })
  .superRefine(({ min_timeout: least, max_timeout: most }, context) => {
    if (least <= most) return;
    const message = `${formatDuration(least)} is longer than "max_timeout", which is ${formatDuration(most)}; lower the one or raise the other`;
    context.addIssue({ code: "custom", path: ["min_timeout"], message });
  });

const unblock = section("what happens to blocked tasks by itself", {
  auto_suggest: flag(true, "a run that ends with blocked tasks says what `ralph blocked --suggest` would"),
  max_auto_unblock_attempts: whole(
    1,
    "how often a task that only timeouts have blocked is tried again by the next run, with twice its last timeout (above `max_timeout` too); 0 is off",
  ),
});

const github = section('the issues that are tasks, with `source = "github"`', {
  label: text
    .default("ralph")
    .describe("issues with this label are tasks; whoever may set it decides what agents work on"),
  repo: emptyText("`owner/name`; empty: the repository that `gh` finds by the remotes"),
  when_done: choice(
    ["close", "comment"],
    "`close`: an accepted issue gets a comment and is closed; `comment`: it gets the comment, loses the label, and people close it",
  ),
});

const logs = section("how long what agents print is kept", {
  keep_days: countFrom(0, 3_650)
    .default(30)
    .describe("older transcripts and prompts are deleted when a run starts; 0 keeps them for ever"),
});

const isWebAddress = (url: string): boolean =>
  URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);

const notify = section("how people are told what happens while they are elsewhere", {
  desktop: flag(false, "a notification of this machine's desktop"),
  webhook: address(
    isWebAddress,
    'expected a web address, such as "https://example.com/ralph"',
    "an address to which each notice is posted; as it is a secret, the variable is the better place",
  ),
  format: choice(
    ["auto", "json", "slack", "discord"],
    "the form of what is posted; `auto` knows Slack and Discord by the address, all else gets JSON",
  ),
  secret: emptyText("signs what is posted, as `X-Ralph-Signature`; the variable is the better place"),
  command: emptyText("a shell command for each notice, JSON on its stdin; for 30 s at most"),
  on: z
    .array(z.enum(NOTICE_KINDS))
    .default([...NOTICE_KINDS])
    .describe(
      "what is worth a notice; `done`: every task is; `ended`: the run is over for another reason, and nobody stopped it",
    ),
});

const queue = section("how several machines work on one project", {
  url: address(
    (url) => /^postgres(?:ql)?:\/\//.test(url),
    'expected the address of a Postgres database, such as "postgres://user@host:5432/name"',
    "the Postgres database with the project's log and its waiting tasks; empty: this machine works alone",
  ),
  lease: durationOf('a duration from "2s" to "1h"', 2_000, 3_600_000)
    .prefault("30s")
    .describe("a worker that is silent for so long counts as dead, and another goes on with its tasks"),
});

/** Everything that may stand in `.ralph/ralph.toml`, with its defaults. */
export const configSchema = z.strictObject({
  agent: text.default("claude").describe("who works: the name of an agent"),
  source: text
    .default("auto")
    .describe("the file with the tasks; `auto` looks for one, `github` takes issues as `[github]` says"),
  mode: choice(
    ["speed", "standard", "thorough"],
    "how long an iteration may take: 2, 15 or 30 minutes, adapted as `[adaptive_timeout]` says",
    "standard",
  ),
  run,
  limits,
  breaker,
  prices: z
    .record(z.string(), price)
    .default({})
    .describe("by the name of a model, for agents that tell their tokens and not what these cost"),
  promise,
  gates: gates.default([]).describe("commands of the project that must pass before a task is done"),
  agents: z
    .record(z.string(), agent)
    .default({})
    .describe("programs that can be named as `agent`, and changes to the built-in ones"),
  stages: z
    .record(z.string(), stage)
    .default({})
    .describe("a pipeline, in the order of the file; without any there is one stage, `build`"),
  review,
  git,
  worktree,
  protect,
  verify,
  sandbox,
  interventions,
  adaptive_timeout: adaptiveTimeout
    .prefault({})
    .describe("how the time for an iteration fits the task; a task's or a run's own timeout is exact"),
  plugins: listOf(
    text,
    "code of the project's own, by path (`./my-plugin.ts`, from the repository's root) or by the name of an installed package",
  ),
  unblock,
  github,
  logs,
  notify,
  queue,
});

/** What the operator wrote, with the defaults. */
export type Config = z.output<typeof configSchema> & {
  /** Not a key of its own: the trees of `config.yaml` have it. */
  readonly maxIterationsPerTask: number;
};
