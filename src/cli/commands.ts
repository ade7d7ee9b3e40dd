import type { Command } from "commander";

/** One command: what it accepts, and what it does. Its file is loaded only when it is asked for. */
export interface CommandModule {
  /** Adds arguments, options and the action to the command. */
  readonly define: (command: Command, act: Act) => void;
}

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

interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

/** Every command there is, in the order of the help. */
export const COMMANDS = {
  init: {
    summary: "set a repository up, and explain what was written",
    load: () => import("./commands/init.ts"),
  },
  plan: {
    summary: "let the agent turn prd.md into tasks.json, and check it",
    load: () => import("./commands/plan.ts"),
  },
  run: {
    summary: "work on the tasks until each is verifiably done",
    load: () => import("./commands/run.ts"),
  },
  submit: {
    summary: "give the tasks to the workers that share this project's queue",
    load: () => import("./commands/submit.ts"),
  },
  worker: {
    summary: "work on submitted tasks, beside workers on other machines",
    load: () => import("./commands/worker.ts"),
  },
  tasks: { summary: "list the tasks, or add one", load: () => import("./commands/tasks.ts") },
  import: {
    summary: "turn a checklist, the tasks of another program, or GitHub issues into tasks.json",
    load: () => import("./commands/import.ts"),
  },
  status: { summary: "where the run and its tasks stand", load: () => import("./commands/status.ts") },
  monitor: {
    summary: "watch a run in this terminal, and answer, steer, cancel or unblock",
    load: () => import("./commands/monitor.ts"),
  },
  history: { summary: "every iteration and its verdict", load: () => import("./commands/history.ts") },
  why: {
    summary: "what was decided about a task, an iteration or the run, and from what",
    load: () => import("./commands/why.ts"),
  },
  verify: {
    summary: "the certificate of an accepted task, checked again today",
    load: () => import("./commands/verify.ts"),
  },
  replay: {
    summary: "show a run again, from the log or from an export",
    load: () => import("./commands/replay.ts"),
  },
  report: {
    summary: "one file about a run, with its charts, to read or to send",
    load: () => import("./commands/report.ts"),
  },
  gates: { summary: "run the gates now", load: () => import("./commands/gates.ts") },
  analyze: { summary: "what a saved output of an agent says", load: () => import("./commands/analyze.ts") },
  logs: { summary: "what the agent printed in an iteration", load: () => import("./commands/logs.ts") },
  interventions: {
    summary: "what went wrong, and what agents were told about it",
    load: () => import("./commands/interventions.ts"),
  },
  profile: { summary: "how each agent works here", load: () => import("./commands/profile.ts") },
  metrics: { summary: "how well the loop works, in numbers", load: () => import("./commands/metrics.ts") },
  eval: {
    summary: "what each feature is worth, in imagined projects; or which limits would have saved what here",
    load: () => import("./commands/eval.ts"),
  },
  lessons: {
    summary: "what goes wrong again and again, and every prompt says; remove one",
    load: () => import("./commands/lessons.ts"),
  },
  promises: {
    summary: "every claim of completion, accepted or not",
    load: () => import("./commands/promises.ts"),
  },
  web: {
    summary: "the page of this project, live, for your browser",
    load: () => import("./commands/web.ts"),
  },
  inbox: { summary: "everything that waits for you", load: () => import("./commands/inbox.ts") },
  decide: { summary: "answer the question of a task", load: () => import("./commands/decide.ts") },
  blocked: {
    summary: "blocked tasks, why, and what would help",
    load: () => import("./commands/blocked.ts"),
  },
  unblock: { summary: "let blocked tasks go on", load: () => import("./commands/unblock.ts") },
  "retry-blocked": {
    summary: "let blocked tasks go on, and run just those",
    load: () => import("./commands/retry-blocked.ts"),
  },
  steer: {
    summary: "tell the agent something; or see what it was told",
    load: () => import("./commands/steer.ts"),
  },
  cancel: { summary: "end the loop of a task, or all", load: () => import("./commands/cancel.ts") },
  undo: {
    summary: "take back the last task that was merged, or accepted in place",
    load: () => import("./commands/undo.ts"),
  },
  worktrees: {
    summary: "where tasks are worked on side by side; remove what is merged",
    load: () => import("./commands/worktrees.ts"),
  },
  stop: { summary: "end the run after the current iteration", load: () => import("./commands/stop.ts") },
  reset: {
    summary: "let an open breaker try again, count calls anew, forget a task or everything",
    load: () => import("./commands/reset.ts"),
  },
  archive: {
    summary: "put the list away with a summary, and begin a fresh one",
    load: () => import("./commands/archive.ts"),
  },
  prompt: {
    summary: "print exactly what the next iteration would be told",
    load: () => import("./commands/prompt.ts"),
  },
  doctor: { summary: "check this machine and this repository", load: () => import("./commands/doctor.ts") },
  config: {
    summary: "the configuration in effect, and where each value comes from",
    load: () => import("./commands/config.ts"),
  },
  mcp: {
    summary: "serve the tools with which the agent of an iteration reports; runs start it themselves",
    load: () => import("./commands/mcp.ts"),
  },
  hook: {
    summary: "check what an agent did before it stops, and watch its context window; agents call it",
    load: () => import("./commands/hook.ts"),
  },
  completion: {
    summary: "print a script with which the shell completes commands and flags",
    load: () => import("./commands/completion.ts"),
  },
  help: {
    summary: "explain a topic or a command; without one, list them all",
    load: () => import("./commands/help.ts"),
  },
  demo: { summary: "see a whole loop in a throw-away repository", load: () => import("./commands/demo.ts") },
} as const satisfies Record<string, CommandEntry>;
