import { Argument, type Command, type Option } from "commander";
import { createProgram, type Act, type CliContext } from "../commands.ts";

export function define(command: Command, act: Act): void {
  command
    .addArgument(new Argument("<shell>", "whose script to print").choices(Object.keys(SCRIPTS)))
    .action(act(completion));
}

async function completion({ stdout, version }: CliContext, shell: string): Promise<number> {
  const program = await createProgram(version, () => true);
  stdout.write(SCRIPTS[shell]?.(commandShapes(program)) ?? "");
  return 0;
}

const SCRIPTS: Readonly<Record<string, (shapes: readonly CommandShape[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Completes a word that bash and zsh know under different names. */
interface Words {
  readonly list: string;
  readonly first: number;
  readonly current: string;
}

/** Sets `name` to the command before the current word, and `skip` to the `command|option` whose value that word is. */
function findCommand(shapes: readonly CommandShape[], { list, first, current }: Words): string {
  const takingValue = shapes.flatMap(({ path, options }) =>
    options.flatMap(({ long, short, takesValue }) =>
      takesValue ? [long, short ?? []].flat().map((option) => `"${path}|${option}"`) : [],
    ),
  );
  return `  local name="" word="" skip="" i
  for ((i = ${first}; i < ${current}; i++)); do
    word="\${${list}[i]}"
    if [[ -n $skip ]]; then skip=""; continue; fi
    case "$name|$word" in
      (${takingValue.join(" | ")}) skip="$name|$word"; continue ;;
    esac
    if [[ -z $name && $word != -* ]]; then name="$word"; fi
  done`;
}

/** A branch for each option that takes one of a few values. */
function valueBranches(shapes: readonly CommandShape[], then: (choices: string) => string): string {
  const branches = shapes.flatMap(({ path, options }) =>
    options.flatMap(({ long, choices }) =>
      choices.length > 0 ? [`      ("${path}|${long}") ${then(choices.join(" "))} ;;`] : [],
    ),
  );
  return branches.join("\n");
}

/** A script for bash, 3.2 and later. Where it knows nothing, bash completes the names of files. */
function bashCompletion(shapes: readonly CommandShape[]): string {
  const wordsAfter = ({ commands, arguments: all, options }: CommandShape): string =>
    [
      ...commands.map(({ name }) => name),
      ...all.flatMap(({ choices }) => choices),
      ...options.flatMap(({ long, short }) => [long, short ?? []].flat()),
    ].join(" ");
  return `# Completion of ralph for bash. Now: source <(ralph completion bash); for ever: add that to ~/.bashrc
_ralph() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
${findCommand(shapes, { list: "COMP_WORDS", first: 1, current: "COMP_CWORD" })}
  if [[ -n $skip ]]; then
    case "$skip" in
${valueBranches(shapes, (choices) => `COMPREPLY=($(compgen -W "${choices}" -- "$current"))`)}
    esac
    return
  fi
  case "$name" in
${shapes.map((shape) => `    ("${shape.path}") word="${wordsAfter(shape)}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$word" -- "$current"))
}
complete -o default -F _ralph ralph
`;
}

/** A script for zsh; works as a file `_ralph` in $fpath, and read by `source`. */
function zshCompletion(shapes: readonly CommandShape[]): string {
  const items = ({ commands, arguments: all, options }: CommandShape): string =>
    [
      ...commands.map(({ name, summary }) => [name, summary]),
      ...all.flatMap(({ choices, description }) => choices.map((choice) => [choice, description])),
      ...options.map(({ long, description }) => [long, description]),
    ]
      .map(([word, says]) => `'${word}:${says?.replaceAll("'", "'\\''")}'`)
      .join(" ");
  return `#compdef ralph
# Completion of ralph for zsh. Now: source <(ralph completion zsh); for ever: add that to ~/.zshrc
_ralph() {
  local -a items
${findCommand(shapes, { list: "words", first: 2, current: "CURRENT" })}
  if [[ -n $skip ]]; then
    case "$skip" in
${valueBranches(shapes, (choices) => `compadd ${choices}`)}
      (*) _files ;;
    esac
    return
  fi
  case "$name" in
${shapes.map((shape) => `    ("${shape.path}") items=(${items(shape)}) ;;`).join("\n")}
  esac
  _describe 'ralph' items || _files
}
if [[ "\${funcstack[1]}" == "_ralph" ]]; then _ralph "$@"; else compdef _ralph ralph; fi
`;
}

function fishCompletion(shapes: readonly CommandShape[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = shapes.flatMap(({ path, commands, arguments: all, options }) => {
    const condition = path === "" ? "__fish_use_subcommand" : quoted(`__fish_seen_subcommand_from ${path}`);
    const line = (words: string, says: string): string =>
      `complete -c ralph -n ${condition} ${words} -d ${quoted(says)}`;
    return [
      ...commands.map(({ name, summary }) => line(`-f -a ${name}`, summary)),
      ...all.flatMap(({ choices, description }) =>
        choices.length > 0 ? [line(`-f -a ${quoted(choices.join(" "))}`, description)] : [],
      ),
      ...options.map(({ long, short, takesValue, choices, description }) => {
        const names = `-l ${long.slice(2)}${short === null ? "" : ` -s ${short.slice(1)}`}`;
        const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
        return line(`${names}${values}`, description);
      }),
    ];
  });
  return `# Completion of ralph for fish. For ever: ralph completion fish > ~/.config/fish/completions/ralph.fish
${lines.join("\n")}
`;
}

/** What the program or one command accepts, in commander's own words. */
export type CommandShape = ReturnType<typeof shapeOf>;
export type OptionShape = CommandShape["options"][number];

/** The program itself first, then its commands, with all their parts loaded. */
export function commandShapes(program: Command): readonly CommandShape[] {
  return [shapeOf(program, ""), ...program.commands.map((command) => shapeOf(command, command.name()))];
}

function shapeOf(command: Command, path: string) {
  return {
    /** `run`; empty for ralph itself. */
    path,
    summary: command.description(),
    usage: `ralph ${path === "" ? "" : `${path} `}${command.usage()}`,
    options: command.createHelp().visibleOptions(command).map(optionShape),
    arguments: command.registeredArguments.map((one) => ({
      name: one.required ? `<${one.name()}>` : `[${one.name()}]`,
      description: one.description,
      choices: one.argChoices ?? [],
    })),
    commands: command.commands.map((below) => ({ name: below.name(), summary: below.description() })),
  };
}

function optionShape(option: Option) {
  return {
    /** As in the help: `-n, --max-iterations <n>`. */
    flags: option.flags,
    long: option.long ?? option.flags,
    short: option.short ?? null,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}
