import type { CommandShape } from "../command-shapes.ts";
import { takingValue, valueChoices, wordsAfter } from "./completion-words.ts";

/** A script for bash, 3.2 and later. Where it knows nothing, bash completes the names of files. */
export function bashCompletion(shapes: readonly CommandShape[]): string {
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
