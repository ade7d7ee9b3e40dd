import { Command, CommanderError } from "commander";
import { closest } from "../core/closest.ts";
import { COMMANDS, type Act, type CliContext } from "./commands.ts";
import { reportError } from "./report-error.ts";

const USAGE_ERROR = 64;

/** Reads the command line, runs the command, answers the exit code. The last catch of the program. */
export async function runCli(argv: readonly string[], version: string): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", outliveBrokenPipe);
  const wantsJson = argv.includes("--json");
  let exitCode = 0;
  try {
    const program = await createProgram(argv, version, (code) => {
      exitCode = code;
    });
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR;
    return reportError(error, wantsJson, process.stdout, process.stderr);
  }
}

async function createProgram(
  argv: readonly string[],
  version: string,
  done: (code: number) => void,
): Promise<Command> {
  const program = new Command("ralph")
    .description("Runs coding agents again and again on a list of tasks, until each is verifiably done.")
    .version(version, "--version", "print the version")
    .helpOption("--help", "explain")
    .helpCommand(false)
    .option("--dir <folder>", "use another folder than .ralph")
    .option("--verbose", "say more")
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .allowExcessArguments()
    .action(() =>
      program.args[0] === undefined ? program.outputHelp() : refuseUnknown(program, program.args[0]),
    );
  program.configureOutput({ outputError: (text, write) => write(`ralph: ${text.replace(/^error: /, "")}`) });
  const wanted = argv.find((word) => !word.startsWith("-"));
  const act: Act = async (action) => done(await action(contextOf(program, version)));
  for (const [name, entry] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(entry.summary).helpOption("--help", "explain");
    command.option("--dir <folder>", "use another folder than .ralph").option("--verbose", "say more");
    if (name === wanted) (await entry.load()).define(command, act);
  }
  return program;
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

function contextOf(program: Command, version: string): CliContext {
  const { dir } = program.opts<{ dir?: string }>();
  return {
    cwd: process.cwd(),
    env: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    dir,
    version,
  };
}
