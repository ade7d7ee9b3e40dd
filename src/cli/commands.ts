import { Command, CommanderError } from "commander";
import { RalphError } from "../core/errors.ts";
import type { Acted } from "../core/loop/operator-act.ts";
import { closest, type Style } from "../core/text.ts";
import { guardOutput, styleFor, wrap } from "./print/style.ts";
import { reportError } from "./report-error.ts";

/** Adds arguments, options and the action to a command. */
type Define = (command: Command, act: Act) => void;

/** Makes the action of a command out of what it does; the exit code is kept. */
export type Act = <Given extends readonly unknown[]>(
  handle: (context: CliContext, ...given: Given) => Promise<number> | number,
) => (...given: Given) => Promise<void>;

/** What every command may use of the process it runs in. */
export interface CliContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** One message to the person, on stderr. */
  readonly say: (text: string) => void;
  /** A text, or each of these lines, on stdout. */
  readonly print: (lines: string | readonly string[]) => void;
  /** How stdout is coloured. */
  readonly style: Style;
  /** `--json`. */
  readonly json: boolean;
  /** `--dir`. */
  readonly dir: string | undefined;
  readonly verbose: boolean;
  readonly version: string;
}

/** Prints an answer, as JSON or as lines, which are made only then; the exit code is that of success. */
export function tell({ json, print }: CliContext, value: unknown, lines: () => readonly string[]): number {
  if (json) print(JSON.stringify(value, null, 2));
  else print(lines());
  return 0;
}

/** What came of an act, which may have been so already; any other refusal is an error. */
export function tellActed(context: CliContext, acted: Acted, more: object = {}): number {
  if (acted.is === "refused" && acted.isMoot !== true)
    throw new RalphError("usage", acted.why, { ...(acted.hint !== undefined && { hint: acted.hint }) });
  const said = acted.is === "done" ? acted.said : acted.why;
  if (!context.json) context.say(said);
  return tell(context, { done: acted.is === "done", said, ...more }, () => []);
}

/** Reads the command line, runs the command, answers the exit code. The last catch of the program. */
export async function runCli(words: readonly string[], version: string): Promise<number> {
  const argv = withoutAliases(words);
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // Whoever read our output is gone; a run goes on without being watched.
      if (error.code !== "EPIPE") throw error;
    });
  const wantsJson = argv.includes("--json");
  let exitCode = 0;
  let program: Command | undefined;
  const wanted = argv.find((word, at) => Object.hasOwn(COMMANDS, word) && argv[at - 1] !== "--dir");
  const isData = wantsJson || argv.includes("--jsonl") || EXACT.has(wanted ?? "");
  const isMonitor = wanted === "monitor" || argv.includes("--monitor");
  for (const stream of [process.stdout, process.stderr])
    if (stream.isTTY ? !isMonitor : !isData) guardOutput(stream);
  try {
    program = await createProgram(
      version,
      (name) => name === wanted,
      (code) => {
        exitCode = code;
      },
    );
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const command = program?.commands.find((one) => one.name() === wanted);
    return reportError(usageError(error, command), wantsJson);
  }
}

/** What they print into a file or a pipe is read by programs, byte for byte. */
const EXACT: ReadonlySet<string> = new Set(["completion", "diff", "hook", "mcp", "report"]);

/** The whole command line; of commands that nobody wants it knows only name and summary. */
export async function createProgram(
  version: string,
  isWanted: (name: string) => boolean,
  done: (code: number) => void = () => {},
): Promise<Command> {
  const program = withCommonOptions(new Command("ralph"))
    .description("Runs coding agents again and again on a list of tasks, until each is verifiably done.")
    .version(version, "--version", "print the version")
    .helpCommand(false)
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .allowExcessArguments()
    .action(() => {
      const [word] = program.args;
      if (word === undefined) return program.outputHelp();
      const meant = closest(word, Object.keys(COMMANDS));
      const hint = meant === null ? "" : ` Did you mean "${meant}"?`;
      return program.error(`unknown command "${word}".${hint} (ralph --help lists them)`);
    });
  program.helpInformation = overview;
  // What is wrong is told in one place, `reportError`, also as JSON.
  program.configureOutput({ outputError: () => {} });
  for (const name of Object.keys(COMMANDS) as CommandName[]) {
    // A word too many is a mistake, most often a text without quotes; only the program itself names the unknown.
    const command = withCommonOptions(program.command(name).description(COMMANDS[name]));
    command.allowExcessArguments(false);
    const act: Act =
      (handle) =>
      async (...given) =>
        done(await handle(contextOf(command, version), ...given));
    if (isWanted(name)) (await LOADERS[name]())(command, act);
  }
  return program;
}

const SCREEN_WIDTH = 80;

/** The commands in their groups, on one screen. */
function overview(): string {
  const usual = Object.values(GROUPS).flatMap((group) => group.usual);
  const width = Math.max(...usual.map((name) => name.length));
  const groups = Object.entries(GROUPS).flatMap(([name, { usual: shown, others }]) => [
    "",
    `${name[0]?.toUpperCase()}${name.slice(1)}`,
    ...shown.map((one: CommandName) => `  ${one.padEnd(width)}  ${COMMANDS[one]}`),
    ...wrap("  also: ", others.join(", "), SCREEN_WIDTH),
  ]);
  return [
    "Runs coding agents on a list of tasks until each is verifiably done.",
    "Usage: ralph [options] [command]",
    ...groups,
    "",
    "Options: --dir FOLDER, --verbose, --version, --help",
    "More: ralph help COMMAND, TOPIC or GROUP, such as ralph help understand",
    "",
  ].join("\n");
}

function withCommonOptions(command: Command): Command {
  return command
    .helpOption("--help", "explain")
    .option("--dir <folder>", "use another folder than .ralph")
    .option("--verbose", "say more; with run: show what the agent prints");
}

/** What the parser objects to, in our own form. */
function usageError(error: unknown, command: Command | undefined): unknown {
  if (!(error instanceof CommanderError)) return error;
  const hint = hintFor(error, command);
  return new RalphError("usage", error.message.replace(/^error: /, "").trim(), {
    ...(hint !== null && { hint }),
    cause: error,
  });
}

function hintFor({ code, message }: CommanderError, command: Command | undefined): string | null {
  if (code === "commander.excessArguments") return 'a text of several words needs quotes: "…"';
  if (code !== "commander.missingArgument" || command === undefined) return null;
  const missing = command.registeredArguments.find((one) => message.includes(`'${one.name()}'`));
  return missing === undefined
    ? null
    : `ralph ${command.name()} <${missing.name()}>: ${missing.argChoices?.join(", ") ?? missing.description}`;
}

function contextOf(command: Command, version: string): CliContext {
  const { dir, verbose, json } = command.optsWithGlobals<{
    dir?: string;
    verbose?: boolean;
    json?: boolean;
  }>();
  const { stdout, stderr, env } = process;
  return {
    cwd: process.cwd(),
    env,
    stdout,
    stderr,
    say: (text) => void stderr.write(`ralph: ${text}\n`),
    print(lines) {
      const text = [lines].flat().join("\n");
      if (lines.length > 0) stdout.write(`${text}\n`);
    },
    style: styleFor(stdout, env),
    json: json === true,
    dir,
    verbose: verbose === true,
    version,
  };
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
  why: "explain what was decided about a task, an iteration or the run",
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
  approve: "approve accepted work that waits for you",
  "send-back": "send accepted work back, and say what is to be changed",
  blocked: "list blocked tasks, why, and what would help",
  unblock: "unblock tasks",
  retry: "unblock a task, and run just it if no run is open",
  "retry-blocked": "unblock tasks, and run only those",
  skip: "leave a task out of all runs, or take it in again",
  steer: "send the agent a message, or list those sent",
  cancel: "end the loop of a task, or of all tasks",
  diff: "show the whole change of a task: accepted, aside or under way",
  discard: "drop the work of a task that was not accepted",
  undo: "revert an accepted task, the last one or one that you name",
  worktrees: "list the worktrees of tasks, or remove the merged ones",
  pause: "begin no further iteration until you resume",
  resume: "go on with a run that is paused",
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

export interface CommandGroup {
  /** Listed with their summary. */
  readonly usual: readonly CommandName[];
  /** Listed by name. */
  readonly others: readonly CommandName[];
  /** Listed only by `ralph help GROUP`. */
  readonly rare: readonly CommandName[];
}

/** Every command once. */
export const GROUPS = {
  start: {
    usual: ["run", "init", "tasks", "demo"],
    others: ["plan", "import", "submit", "worker"],
    rare: [],
  },
  watch: {
    usual: ["status", "monitor", "web", "logs"],
    others: ["history", "report"],
    rare: ["replay"],
  },
  answer: {
    usual: ["inbox", "decide", "steer", "unblock", "stop"],
    others: [
      "approve",
      "send-back",
      "blocked",
      "retry",
      "retry-blocked",
      "skip",
      "cancel",
      "pause",
      "resume",
    ],
    rare: [],
  },
  understand: {
    usual: ["why", "verify", "diff"],
    others: ["gates", "prompt", "interventions"],
    rare: ["analyze", "promises", "lessons", "profile", "metrics", "eval"],
  },
  maintain: {
    usual: ["doctor", "config"],
    others: ["undo", "discard", "worktrees", "reset", "archive", "help"],
    rare: ["completion", "mcp", "hook"],
  },
} as const satisfies Record<string, CommandGroup>;

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
  approve: async () => (await import("./commands/act.ts")).defineApprove,
  "send-back": async () => (await import("./commands/act.ts")).defineSendBack,
  blocked: async () => (await import("./commands/blocked.ts")).define,
  unblock: async () => (await import("./commands/blocked.ts")).defineUnblock,
  retry: async () => (await import("./commands/run.ts")).defineRetry,
  "retry-blocked": async () => (await import("./commands/run.ts")).defineRetryBlocked,
  skip: async () => (await import("./commands/act.ts")).defineSkip,
  steer: async () => (await import("./commands/stop.ts")).defineSteer,
  cancel: async () => (await import("./commands/stop.ts")).defineCancel,
  diff: async () => (await import("./commands/work.ts")).defineDiff,
  discard: async () => (await import("./commands/work.ts")).defineDiscard,
  undo: async () => (await import("./commands/work.ts")).defineUndo,
  worktrees: async () => (await import("./commands/worktrees.ts")).define,
  pause: async () => (await import("./commands/act.ts")).definePause,
  resume: async () => (await import("./commands/act.ts")).defineResume,
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
  "--calls": ["run", "--calls"],
};

/** Options that may stand before the first word, with the number of words that they take. */
const COMMON_OPTIONS: Readonly<Record<string, number>> = { "--dir": 2, "--verbose": 1 };

/** The command line with our own words in it. */
export function withoutAliases(argv: readonly string[]): readonly string[] {
  const first = firstWord(argv);
  const [word = "", ...value] = (argv[first] ?? "").split(/(?==)/);
  // Words that are no command: what is wanted.
  if (/^[^-].*\s/s.test(word)) return [...argv.slice(0, first), "run", "--guided", ...argv.slice(first)];
  const meant = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (meant === undefined) return argv;
  const others = argv.slice(first + 1);
  // Status and what is reset do not depend on the list.
  if (word === "--roadmap" && others.includes("--status")) return [...argv.slice(0, first), "status"];
  if (word === "--reset" && !others.some((other) => /^--(?:circuit|calls|task|all)\b/.test(other)))
    return [...argv.slice(0, first), "reset", "--all", ...others];
  // `--roadmap=plan.md` keeps its value.
  const last = [meant.at(-1), ...value].join("");
  return [...argv.slice(0, first), ...meant.slice(0, -1), last, ...others];
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
