import type { CommandShape } from "../command-shapes.ts";
import { takingValue, valueChoices } from "./completion-words.ts";

/** A script for zsh; works as a file `_ralph` in $fpath, and read by `source`. */
export function zshCompletion(shapes: readonly CommandShape[]): string {
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

function alternatives(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" | ");
}
