import type { Command } from "commander";

/** Adds arguments, options and the action to a command. */
type Define = (command: Command, act: Act) => void;

/** Runs an action and keeps its exit code. */
export type Act = (action: (context: CliContext) => Promise<number> | number) => Promise<void>;

/** What every command may use of the process it runs in. */
export interface CliContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** One message to the person, on stderr. */
  readonly say: (text: string) => void;
  /** `--dir`. */
  readonly dir: string | undefined;
  readonly verbose: boolean;
  readonly version: string;
}

/** Prints an answer, as JSON or as lines, which are made only then; the exit code is that of success. */
export function tell(
  { stdout }: CliContext,
  asJson: boolean | undefined,
  json: unknown,
  lines: () => Iterable<string>,
): number {
  if (asJson === true) stdout.write(`${JSON.stringify(json, null, 2)}\n`);
  else for (const line of lines()) stdout.write(`${line}\n`);
  return 0;
}

/** Every command there is with its summary, in the order of the help. */
export const COMMANDS = {
  init: "set up a repository, and explain what was written",
  plan: "let the agent turn prd.md into tasks.json, and check it",
  run: "work on the tasks until each is verifiably done",
  submit: "queue the tasks for the workers of this project",
  worker: "work on queued tasks, beside workers on other machines",
  tasks: "list the tasks, add one, or settle what agents did to the list",
  import: "turn a checklist, a roadmap or GitHub issues into tasks.json",
  status: "show the state of the run and its tasks",
  monitor: "watch a run in this terminal, and answer, steer, cancel or unblock",
  history: "list every iteration with its verdict",
  why: "explain what was decided about a task, an iteration or the run, and why",
  verify: "print the certificate of an accepted task, and check it again",
  replay: "show a run again, from the log or from an export",
  report: "write one file about a run, with its charts",
  gates: "run the gates now",
  analyze: "print what a saved output of an agent says",
  logs: "show what the agent of an iteration said and did",
  interventions: "list what went wrong, and what agents were told about it",
  profile: "show how each agent works here",
  metrics: "show how well the loop works, in numbers",
  eval: "measure what each feature is worth, in imagined projects",
  lessons: "list what goes wrong again and again, or remove one",
  promises: "list every claim of completion, accepted or not",
  web: "serve the live page of this project",
  inbox: "list everything that waits for you",
  decide: "answer the question of a task",
  blocked: "list blocked tasks, why, and what would help",
  unblock: "unblock tasks",
  "retry-blocked": "unblock tasks, and run only those",
  steer: "send the agent a message, or list those sent",
  cancel: "end the loop of a task, or of all tasks",
  diff: "show the whole change of a task: accepted, aside or under way",
  discard: "drop the work of a task that was not accepted",
  undo: "revert an accepted task, the last one or one that you name",
  worktrees: "list the worktrees of tasks, or remove the merged ones",
  stop: "end the run after the current iteration",
  reset: "reset the breaker, the calls of this hour, a task, or everything",
  archive: "put the list away with a summary, and begin a fresh one",
  prompt: "print the prompt of the next iteration",
  doctor: "check this machine and this repository",
  config: "show the configuration, and where each value comes from",
  mcp: "serve the tools with which the agent reports; runs start it themselves",
  hook: "check an agent's work before it stops, and its context window; agents call it",
  completion: "print a completion script for a shell",
  help: "explain a topic or a command, or list them all",
  demo: "watch a whole loop in a throw-away repository",
} as const;

export type CommandName = keyof typeof COMMANDS;

/** The file of each command, which is loaded only when the command is asked for. */
export const LOADERS: Readonly<Record<CommandName, () => Promise<Define>>> = {
  init: async () => (await import("./commands/init.ts")).define,
  plan: async () => (await import("./commands/plan.ts")).define,
  run: async () => (await import("./commands/run.ts")).define,
  submit: async () => (await import("./commands/submit.ts")).define,
  worker: async () => (await import("./commands/worker.ts")).define,
  tasks: async () => (await import("./commands/tasks.ts")).define,
  import: async () => (await import("./commands/tasks.ts")).defineImport,
  status: async () => (await import("./commands/status.ts")).define,
  monitor: async () => (await import("./commands/monitor.ts")).define,
  history: async () => (await import("./commands/history.ts")).define,
  why: async () => (await import("./commands/why.ts")).define,
  verify: async () => (await import("./commands/verify.ts")).define,
  replay: async () => (await import("./commands/history.ts")).defineReplay,
  report: async () => (await import("./commands/report.ts")).define,
  gates: async () => (await import("./commands/verify.ts")).defineGates,
  analyze: async () => (await import("./commands/analyze.ts")).define,
  logs: async () => (await import("./commands/logs.ts")).define,
  interventions: async () => (await import("./commands/interventions.ts")).define,
  profile: async () => (await import("./commands/interventions.ts")).defineProfile,
  metrics: async () => (await import("./commands/interventions.ts")).defineMetrics,
  eval: async () => (await import("./commands/eval.ts")).define,
  lessons: async () => (await import("./commands/interventions.ts")).defineLessons,
  promises: async () => (await import("./commands/interventions.ts")).definePromises,
  web: async () => (await import("./commands/web.ts")).define,
  inbox: async () => (await import("./commands/blocked.ts")).defineInbox,
  decide: async () => (await import("./commands/blocked.ts")).defineDecide,
  blocked: async () => (await import("./commands/blocked.ts")).define,
  unblock: async () => (await import("./commands/blocked.ts")).defineUnblock,
  "retry-blocked": async () => (await import("./commands/run.ts")).defineRetryBlocked,
  steer: async () => (await import("./commands/stop.ts")).defineSteer,
  cancel: async () => (await import("./commands/stop.ts")).defineCancel,
  diff: async () => (await import("./commands/work.ts")).defineDiff,
  discard: async () => (await import("./commands/work.ts")).defineDiscard,
  undo: async () => (await import("./commands/work.ts")).defineUndo,
  worktrees: async () => (await import("./commands/worktrees.ts")).define,
  stop: async () => (await import("./commands/stop.ts")).define,
  reset: async () => (await import("./commands/archive.ts")).defineReset,
  archive: async () => (await import("./commands/archive.ts")).define,
  prompt: async () => (await import("./commands/prompt.ts")).define,
  doctor: async () => (await import("./commands/doctor.ts")).define,
  config: async () => (await import("./commands/config.ts")).define,
  mcp: async () => (await import("./commands/mcp.ts")).define,
  hook: async () => (await import("./commands/hook.ts")).define,
  completion: async () => (await import("./commands/completion.ts")).define,
  help: async () => (await import("./commands/help.ts")).define,
  demo: async () => (await import("./commands/demo.ts")).define,
};

/** Words that other loops of this kind use, and what they are here. They count as the first word only. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  "ralph-status": ["status", "--loops"],
  "ralph-cancel": ["cancel"],
  "--status": ["status"],
  "--reset": ["reset"],
  "--reset-circuit": ["reset", "--circuit"],
  "--monitor": ["run", "--monitor"],
  "--roadmap": ["run", "--roadmap"],
};

/** Options that may stand before the first word, with the number of words that they take. */
const COMMON_OPTIONS: Readonly<Record<string, number>> = { "--dir": 2, "--verbose": 1 };

/** The command line with our own words in it. */
export function withoutAliases(argv: readonly string[]): readonly string[] {
  const first = firstWord(argv);
  const [word = "", ...value] = (argv[first] ?? "").split(/(?==)/);
  const meant = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (meant === undefined) return argv;
  // `--roadmap=plan.md` keeps its value.
  const last = [meant.at(-1), ...value].join("");
  return [...argv.slice(0, first), ...meant.slice(0, -1), last, ...argv.slice(first + 1)];
}

function firstWord(argv: readonly string[]): number {
  let at = 0;
  for (;;) {
    const word = argv[at] ?? "";
    const taken = word.startsWith("--dir=") ? 1 : COMMON_OPTIONS[word];
    if (taken === undefined) return at;
    at += taken;
  }
}
