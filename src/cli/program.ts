import { closest } from "../core/text.ts";
import { Command, CommanderError } from "commander";
import { RalphError } from "../core/errors.ts";
import {
  COMMANDS,
  LOADERS,
  withoutAliases,
  type Act,
  type CliContext,
  type CommandName,
} from "./commands.ts";
import { guardOutput, styleFor } from "./print/style.ts";
import { reportError } from "./report-error.ts";

/** Reads the command line, runs the command, answers the exit code. The last catch of the program. */
export async function runCli(words: readonly string[], version: string): Promise<number> {
  const argv = withoutAliases(words);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", outliveBrokenPipe);
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
    .addHelpText("after", "\nTopics such as gates, verdicts or exit-codes are explained too: ralph help")
    .enablePositionalOptions()
    .exitOverride()
    .allowExcessArguments()
    .action(() =>
      program.args[0] === undefined ? program.outputHelp() : refuseUnknown(program, program.args[0]),
    );
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

/** Whoever read our output is gone; a run goes on without being watched. */
function outliveBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

function refuseUnknown(program: Command, word: string): never {
  const meant = closest(word, Object.keys(COMMANDS));
  const hint = meant === null ? "" : ` Did you mean "${meant}"?`;
  return program.error(`unknown command "${word}".${hint} (ralph --help lists them)`);
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
