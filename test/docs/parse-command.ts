import { CommanderError, type Command } from "commander";
import { createProgram, withoutAliases } from "../../src/cli/commands.ts";
import { RalphError } from "../../src/core/errors.ts";

export interface Complaint {
  /** The parser's own name for it. */
  readonly code: string;
  readonly message: string;
}

/** Reads command lines with the program's own parser, and does nothing of what they say. */
export async function createCommandParser(): Promise<(args: readonly string[]) => Promise<Complaint | null>> {
  const program = await createProgram("0", () => true);
  disarm(program);
  return async (args) => {
    try {
      await program.parseAsync([...withoutAliases(args)], { from: "user" });
      return null;
    } catch (error) {
      if (error instanceof RalphError) return { code: error.code, message: error.message };
      if (!(error instanceof CommanderError)) throw error;
      return error.exitCode === 0 ? null : { code: error.code, message: error.message };
    }
  };
}

function disarm(command: Command): void {
  command.action(() => {
    const [unknown] = command.commands.length > 0 ? command.args : [];
    if (unknown !== undefined) command.error(`error: unknown command "${unknown}"`);
  });
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  for (const below of command.commands) disarm(below);
}
