import type { Word } from "./shell-words.ts";

/** How a program is told which script to run. */
interface Interpreter {
  /** Options that are followed by a value. */
  readonly valued: RegExp;
  /** Options with which there is no script: code, a module, or files that are checked and not run. */
  readonly scriptless: RegExp;
}

const NEVER = /^(?!)/;
const INTERPRETERS: ReadonlyMap<string, Interpreter> = new Map([
  ...["sh", "bash", "dash", "ash", "ksh", "zsh"].map((name): [string, Interpreter] => [
    name,
    { valued: /^[-+][a-z]*[oO]$|^--(?:rcfile|init-file)$/, scriptless: /^-[a-z]*[cns][a-z]*$/ },
  ]),
  ...["node", "nodejs", "tsx", "ts-node"].map((name): [string, Interpreter] => [
    name,
    {
      valued:
        /^(?:-[rC]|--(?:require|import|loader|experimental-loader|conditions|input-type|tsconfig|project))$/,
      scriptless: /^(?:-[cep]|-pe|--(?:check|eval|print|test|run))$/,
    },
  ]),
  ["python", { valued: /^-[A-Za-z]*[WX]$/, scriptless: /^-[A-Za-z]*[cm]$/ }],
  ["pypy", { valued: /^-[A-Za-z]*[WX]$/, scriptless: /^-[A-Za-z]*[cm]$/ }],
  ["ruby", { valued: /^-[ICr]$/, scriptless: /^-[A-Za-z]*[ce]$/ }],
  ["perl", { valued: /^-[IMm]$/, scriptless: /^-[A-Za-z]*[ceE]$/ }],
  ["php", { valued: /^-[cd]$/, scriptless: /^-[lr]$/ }],
  ["source", { valued: NEVER, scriptless: NEVER }],
  [".", { valued: NEVER, scriptless: NEVER }],
]);

/** What `program` is called when it stands at another place or has its version in its name. */
export function interpreterOf(program: string): string | null {
  const name = program.startsWith("/") ? program.slice(program.lastIndexOf("/") + 1) : program;
  const plain = name.length > 1 ? name.replace(/(?<=[a-z])\d[\d.]{0,8}$/, "") : name;
  return INTERPRETERS.has(plain) ? plain : null;
}

/** The script among the arguments of an interpreter; null when it runs something else. */
export function scriptArgument(interpreter: string, args: readonly Word[]): string | null {
  const { valued, scriptless } = INTERPRETERS.get(interpreter) ?? { valued: NEVER, scriptless: NEVER };
  for (let at = 0; at < args.length; at += 1) {
    const { text, isKnown } = args[at] ?? { text: "", isKnown: false };
    if (!isKnown) return null;
    if (!/^[-+]./.test(text)) return text;
    if (scriptless.test(text.slice(0, 40).split("=")[0] ?? "")) return null;
    if (valued.test(text.slice(0, 40))) at += 1;
  }
  return null;
}

/** The text that a shell is given to run, as in `sh -ec "…"`; null when there is none. */
export function shellText(interpreter: string, args: readonly Word[]): string | null {
  if (!interpreter.endsWith("sh")) return null;
  const option = args.findIndex(({ text }) => /^-[a-z]{0,8}c[a-z]{0,8}$/.test(text));
  const code = option < 0 ? undefined : args[option + 1];
  return code?.isKnown ? code.text : null;
}
