import { Argument, type Command, type Option } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { createProgram } from "../program.ts";

/** All that can follow a command. */
function wordsAfter({ commands, arguments: all, options }: CommandShape): readonly string[] {
  const shorts = options.flatMap(({ short }) => (short === null ? [] : [short]));
  return [
    ...commands,
    ...all.flatMap(({ choices }) => choices),
    ...options.map(({ long }) => long),
    ...shorts,
  ];
}

/** Options after which comes a value, each as `command|option`. */
function takingValue(shapes: readonly CommandShape[]): readonly string[] {
  return shapes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ long, short }) => (short === null ? [long] : [long, short]))
      .map((name) => `${path}|${name}`),
  );
}

/** Options that take one of a few values. */
function valueChoices(
  shapes: readonly CommandShape[],
): readonly { readonly option: string; readonly choices: string }[] {
  return shapes.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => ({ option: `${path}|${long}`, choices: choices.join(" ") })),
  );
}

/** A script for bash, 3.2 and later. Where it knows nothing, bash completes the names of files. */
function bashCompletion(shapes: readonly CommandShape[]): string {
  const paths = shapes.map(({ path }) => path).filter((path) => path !== "");
  return `# Completion of ralph for bash. Now: source <(ralph completion bash); for ever: add that to ~/.bashrc
_ralph() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local below="" word="" skip="" i=1
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $skip ]]; then skip=""; continue; fi
    case "$below|$word" in
      ${alternatives(takingValue(shapes))}) skip=1; continue ;;
    esac
    case "\${below:+$below }$word" in
      ${alternatives(paths)}) below="\${below:+$below }$word" ;;
    esac
  done
  if [[ -n $skip ]]; then
    case "$below|$previous" in
${valueChoices(shapes)
  .map(({ option, choices }) => `      "${option}") COMPREPLY=($(compgen -W "${choices}" -- "$current")) ;;`)
  .join("\n")}
    esac
    return
  fi
  case "$below" in
${shapes.map((shape) => `    "${shape.path}") word="${wordsAfter(shape).join(" ")}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$word" -- "$current"))
}
complete -o default -F _ralph ralph
`;
}

function alternatives(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" | ");
}

function fishCompletion(shapes: readonly CommandShape[]): string {
  const lines = shapes.flatMap((shape) => [
    ...shape.commands.map((name) => {
      const below = shapes.find(({ path }) => path === `${shape.path} ${name}`.trim());
      return `${start(shape, "commands")} -f -a ${name} -d ${quoted(below?.summary ?? "")}`;
    }),
    ...shape.arguments
      .filter(({ choices }) => choices.length > 0)
      .map(({ choices, description }) => {
        return `${start(shape, "commands")} -f -a ${quoted(choices.join(" "))} -d ${quoted(description)}`;
      }),
    ...shape.options.map(({ long, short, takesValue, choices, description }) => {
      const names = `-l ${long.slice(2)}${short === null ? "" : ` -s ${short.slice(1)}`}`;
      const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
      return `${start(shape, "options")} ${names}${values} -d ${quoted(description)}`;
    }),
  ]);
  return `# Completion of ralph for fish. For ever: ralph completion fish > ~/.config/fish/completions/ralph.fish
${lines.join("\n")}
`;
}

function start({ path, commands }: CommandShape, of: "commands" | "options"): string {
  if (path === "") return "complete -c ralph -n __fish_use_subcommand";
  const seen = path.split(" ").map((name) => `__fish_seen_subcommand_from ${name}`);
  const notYet =
    of === "commands" && commands.length > 0 ? [`not __fish_seen_subcommand_from ${commands.join(" ")}`] : [];
  return `complete -c ralph -n ${quoted([...seen, ...notYet].join("; and "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** A script for zsh; works as a file `_ralph` in $fpath, and read by `source`. */
function zshCompletion(shapes: readonly CommandShape[]): string {
  const paths = shapes.map(({ path }) => path).filter((path) => path !== "");
  return `#compdef ralph
# Completion of ralph for zsh. Now: source <(ralph completion zsh); for ever: add that to ~/.zshrc
_ralph() {
  local below="" word="" skip="" i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n $skip ]]; then skip=""; continue; fi
    case "$below|$word" in
      (${alternatives(takingValue(shapes))}) skip="$below|$word"; continue ;;
    esac
    case "\${below:+$below }$word" in
      (${alternatives(paths)}) below="\${below:+$below }$word" ;;
    esac
  done
  if [[ -n $skip ]]; then
    case "$skip" in
${valueChoices(shapes)
  .map(({ option, choices }) => `      ("${option}") compadd ${choices} ;;`)
  .join("\n")}
      (*) _files ;;
    esac
    return
  fi
  case "$below" in
${shapes.map((shape) => `    ("${shape.path}") items=(${items(shape, shapes).join(" ")}) ;;`).join("\n")}
  esac
  _describe 'ralph' items || _files
}
if [[ "\${funcstack[1]}" == "_ralph" ]]; then _ralph "$@"; else compdef _ralph ralph; fi
`;
}

function items(shape: CommandShape, shapes: readonly CommandShape[]): readonly string[] {
  const summaryOf = (name: string): string =>
    shapes.find(({ path }) => path === `${shape.path} ${name}`.trim())?.summary ?? "";
  return [
    ...shape.commands.map((name) => [name, summaryOf(name)]),
    ...shape.arguments.flatMap(({ choices, description }) => choices.map((name) => [name, description])),
    ...shape.options.map(({ long, description }) => [long, description]),
  ].map(([name, description]) => `'${name}:${description?.replaceAll("'", "'\\''")}'`);
}

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

interface ArgumentShape {
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
