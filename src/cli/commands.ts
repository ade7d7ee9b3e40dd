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
  /** `--dir`. */
  readonly dir: string | undefined;
  readonly verbose: boolean;
  readonly version: string;
}

/** Every command there is with its summary, in the order of the help. */
export const COMMANDS = {
  init: "set a repository up, and explain what was written",
  plan: "let the agent turn prd.md into tasks.json, and check it",
  run: "work on the tasks until each is verifiably done",
  submit: "give the tasks to the workers that share this project's queue",
  worker: "work on submitted tasks, beside workers on other machines",
  tasks: "list the tasks, add one, or settle what agents did to the list",
  import: "turn a checklist, the tasks of another program, or GitHub issues into tasks.json",
  status: "where the run and its tasks stand",
  monitor: "watch a run in this terminal, and answer, steer, cancel or unblock",
  history: "every iteration and its verdict",
  why: "what was decided about a task, an iteration or the run, and from what",
  verify: "the certificate of an accepted task, checked again today",
  replay: "show a run again, from the log or from an export",
  report: "one file about a run, with its charts, to read or to send",
  gates: "run the gates now",
  analyze: "what a saved output of an agent says",
  logs: "what the agent printed in an iteration",
  interventions: "what went wrong, and what agents were told about it",
  profile: "how each agent works here",
  metrics: "how well the loop works, in numbers",
  eval: "what each feature is worth, in imagined projects; or which limits would have saved what here",
  lessons: "what goes wrong again and again, and every prompt says; remove one",
  promises: "every claim of completion, accepted or not",
  web: "the page of this project, live, for your browser",
  inbox: "everything that waits for you",
  decide: "answer the question of a task",
  blocked: "blocked tasks, why, and what would help",
  unblock: "let blocked tasks go on",
  "retry-blocked": "let blocked tasks go on, and run just those",
  steer: "tell the agent something; or see what it was told",
  cancel: "end the loop of a task, or all",
  diff: "the whole change of a task: accepted, aside or under way",
  discard: "drop the work of a task that was not accepted",
  undo: "take back an accepted task, the last one or one that you name",
  worktrees: "where tasks are worked on side by side; remove what is merged",
  stop: "end the run after the current iteration",
  reset: "let an open breaker try again, count calls anew, forget a task or everything",
  archive: "put the list away with a summary, and begin a fresh one",
  prompt: "print exactly what the next iteration would be told",
  doctor: "check this machine and this repository",
  config: "the configuration in effect, and where each value comes from",
  mcp: "serve the tools with which the agent of an iteration reports; runs start it themselves",
  hook: "check what an agent did before it stops, and watch its context window; agents call it",
  completion: "print a script with which the shell completes commands and flags",
  help: "explain a topic or a command; without one, list them all",
  demo: "see a whole loop in a throw-away repository",
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
  logs: async () => (await import("./commands/history.ts")).defineLogs,
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
