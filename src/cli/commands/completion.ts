import { Argument, type Command } from "commander";
import { commandShapes, type CommandShape } from "../command-shapes.ts";
import type { Act, CliContext } from "../commands.ts";
import { bashCompletion } from "../completion/bash-completion.ts";
import { fishCompletion } from "../completion/fish-completion.ts";
import { zshCompletion } from "../completion/zsh-completion.ts";
import { createProgram } from "../program.ts";

const SCRIPTS: Readonly<Record<string, (shapes: readonly CommandShape[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export function define(command: Command, act: Act): void {
  command
    .addArgument(new Argument("<shell>", "whose script to print").choices(Object.keys(SCRIPTS)))
    .action((shell: string) => act((context) => completion(shell, context)));
}

async function completion(shell: string, { stdout, version }: CliContext): Promise<number> {
  const program = await createProgram(version, () => true);
  stdout.write(SCRIPTS[shell]?.(commandShapes(program)) ?? "");
  return 0;
}
