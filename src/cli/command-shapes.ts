import type { Command, Option } from "commander";

/** What one command accepts; commands below others are listed after them. */
export interface CommandShape {
  /** `run`, or `tasks list`; empty for ralph itself. */
  readonly path: string;
  readonly summary: string;
  readonly usage: string;
  readonly options: readonly OptionShape[];
  readonly arguments: readonly ArgumentShape[];
  /** The names of commands below. */
  readonly commands: readonly string[];
}

export interface OptionShape {
  /** As in the help: `-n, --max-iterations <n>`. */
  readonly flags: string;
  readonly long: string;
  readonly short: string | null;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export interface ArgumentShape {
  readonly name: string;
  readonly description: string;
  readonly choices: readonly string[];
}

/** The commands of a program with all its parts loaded, the program itself first. */
export function commandShapes(command: Command, path = ""): readonly CommandShape[] {
  const visible = command.createHelp();
  const own: CommandShape = {
    path,
    summary: command.description(),
    usage: `ralph ${path === "" ? "" : `${path} `}${command.usage()}`,
    options: visible.visibleOptions(command).map(optionShape),
    arguments: command.registeredArguments.map((one) => ({
      name: one.required ? `<${one.name()}>` : `[${one.name()}]`,
      description: one.description,
      choices: one.argChoices ?? [],
    })),
    commands: command.commands.map((below) => below.name()),
  };
  const below = command.commands.flatMap((one) => commandShapes(one, `${path} ${one.name()}`.trim()));
  return [own, ...below];
}

function optionShape(option: Option): OptionShape {
  return {
    flags: option.flags,
    long: option.long ?? option.flags,
    short: option.short ?? null,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}
