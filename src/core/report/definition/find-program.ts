import type { Word } from "./shell-words.ts";

/** Where the program stands in a simple command: behind assignments, keywords, and programs that run another one. */
export function programAt(words: readonly Word[]): number {
  let at = 0;
  for (;;) {
    const word = words[at]?.text;
    if (word === undefined) return at;
    const text = word.startsWith("/") ? word.slice(word.lastIndexOf("/") + 1) : word;
    const runner = RUNNERS.get(text);
    if (ASSIGNMENT.test(text) || KEYWORDS.has(text)) at += 1;
    else if (runner !== undefined) at = behindOptions(words, at + 1, runner);
    else if (words[at + 1]?.text === SUBCOMMANDS.get(text) && SUBCOMMANDS.has(text))
      at = behindOptions(words, at + 2, NOTHING);
    else return at;
  }
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
const KEYWORDS = new Set(["!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "fi", "done"]);

interface Runner {
  /** Options that are followed by a value. */
  readonly valued: readonly string[];
  /** Words of its own before the program. */
  readonly operands: number;
}

const NOTHING: Runner = { valued: [], operands: 0 };
const RUNNERS: ReadonlyMap<string, Runner> = new Map([
  ["env", { valued: ["-u", "--unset"], operands: 0 }],
  ["cross-env", NOTHING],
  ["time", { valued: ["-o", "-f"], operands: 0 }],
  ["exec", { valued: ["-a"], operands: 0 }],
  ["command", NOTHING],
  ["nohup", NOTHING],
  ["nice", { valued: ["-n"], operands: 0 }],
  ["timeout", { valued: ["-s", "-k", "--signal", "--kill-after"], operands: 1 }],
  ["xvfb-run", { valued: ["-n", "-s", "-e", "-f", "-p", "-w"], operands: 0 }],
]);
const SUBCOMMANDS: ReadonlyMap<string, string> = new Map([
  ["poetry", "run"],
  ["pipenv", "run"],
  ["uv", "run"],
  ["bundle", "exec"],
]);

function behindOptions(words: readonly Word[], from: number, { valued, operands }: Runner): number {
  let at = from;
  while (words[at]?.text.startsWith("-")) at += valued.includes(words[at]?.text ?? "") ? 2 : 1;
  return at + operands;
}
