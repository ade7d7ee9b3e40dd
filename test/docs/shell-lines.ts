/** A command in a line of shell, as the program gets it. */
export interface ShellCommand {
  readonly words: readonly string[];
}

const CONNECTIVES = ["&&", "||", ";", "|"];

/** The commands of a line, without comments, redirections and variables that are set for them. */
export function commandsOf(line: string): readonly ShellCommand[] {
  const commands: string[][] = [[]];
  for (const word of wordsOf(line)) {
    if (CONNECTIVES.includes(word)) commands.push([]);
    else commands.at(-1)?.push(word);
  }
  return commands
    .map((words) => withoutRedirections(words.slice(words.findIndex((word) => !/^\w+=/.test(word)))))
    .filter((words) => words.length > 0)
    .map((words) => ({ words }));
}

/** What follows the name of our program, if the command is one of ours. */
export function ralphArguments({ words }: ShellCommand): readonly string[] | null {
  const [program = "", ...args] = words;
  return /^(?:\.\/bin\/)?ralph$/.test(program) ? args : null;
}

/** Words as a shell cuts them; quotes keep them together and vanish, `#` begins a comment. */
function wordsOf(line: string): readonly string[] {
  const pattern = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g;
  const words: string[] = [];
  for (const [word] of line.matchAll(pattern)) {
    if (word.startsWith("#")) break;
    words.push(word.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double, single) => double ?? single));
  }
  return words;
}

function withoutRedirections(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => /^\d?[<>]/.test(word));
  return at === -1 ? words : words.slice(0, at);
}
