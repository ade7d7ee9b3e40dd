import { Argument, type Command, type Option } from "commander";
import { listedTasks } from "../../app/operator.ts";
import { builtInAgents } from "../../app/plugins.ts";
import { openProject, type Project, readConfig } from "../../app/project.ts";
import { readState } from "../../app/project-log.ts";
import { createProgram, type Act, type CliContext } from "../commands.ts";

export function define(command: Command, act: Act): void {
  command
    .addArgument(
      new Argument(
        "<shell>",
        "whose script to print; tasks and agents list the names that it completes",
      ).choices([...Object.keys(SCRIPTS), ...Object.keys(NAMES)]),
    )
    .action(act(completion));
}

/** What a project has names for, which the scripts ask for each time. */
const NAMES: Readonly<Record<string, (project: Project) => Promise<readonly string[]>>> = {
  tasks: async (project) => {
    const { tasks } = await readState(project);
    return [...new Set([...(await listedTasks(project)), ...Object.keys(tasks)])];
  },
  agents: async (project) => [
    ...new Set([
      ...builtInAgents().map(({ name }) => name),
      ...Object.keys((await readConfig(project)).agents),
    ]),
  ],
};

async function completion(context: CliContext, shell: string): Promise<number> {
  const { stdout, version, print } = context;
  const names = NAMES[shell];
  if (names !== undefined) {
    print(await names(await openProject(context)));
    return 0;
  }
  const program = await createProgram(version, () => true);
  stdout.write(SCRIPTS[shell]?.(commandShapes(program)) ?? "");
  return 0;
}

/** The names as a shell asks for them. */
const ask = (names: string): string => `$(ralph completion ${names} 2>/dev/null)`;

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
    options.flatMap(({ long, choices, names }) => {
      const words = names === null ? choices.join(" ") : ask(names);
      return words === "" ? [] : [`      ("${path}|${long}") ${then(words)} ;;`];
    }),
  );
  return branches.join("\n");
}

/** A script for bash, 3.2 and later. Where it knows nothing, bash completes the names of files. */
function bashCompletion(shapes: readonly CommandShape[]): string {
  const wordsAfter = ({ commands, arguments: all, options }: CommandShape): string =>
    [
      ...commands.map(({ name }) => name),
      ...all.flatMap(({ choices, names }) => (names === null ? choices : ask(names))),
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
  const namesToo = ({ arguments: all }: CommandShape): string =>
    all
      .flatMap(({ names }) => (names === null ? [] : ` items+=(\${\${(f)"${ask(names)}"}//:/\\\\:})`))
      .join("");
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
${shapes.map((shape) => `    ("${shape.path}") items=(${items(shape)})${namesToo(shape)} ;;`).join("\n")}
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
      ...all.flatMap(({ choices, names, description }) => {
        const words = names === null ? choices.join(" ") : ask(names).slice(1);
        return words === "" ? [] : [line(`-f -a ${quoted(words)}`, description)];
      }),
      ...options.map(({ long, short, takesValue, choices, names, description }) => {
        const flags = `-l ${long.slice(2)}${short === null ? "" : ` -s ${short.slice(1)}`}`;
        const words = names === null ? choices.join(" ") : ask(names).slice(1);
        const values = words === "" ? (takesValue ? " -r" : "") : ` -x -a ${quoted(words)}`;
        return line(`${flags}${values}`, description);
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
      /** Which names of the project may stand there. */
      names: /^(?:task|what)$/.test(one.name()) && one.argChoices === undefined ? "tasks" : null,
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
    names: option.long === "--task" ? "tasks" : option.long === "--agent" ? "agents" : null,
  };
}
