import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { GateSettings } from "../../core/settings.ts";
import { findProgram } from "../process/process-table.ts";
import { askProgram } from "../process/supervise.ts";
import { isOutside, outsidePath } from "../process/safe-path.ts";

export interface GatePlace {
  /** The workspace. */
  readonly cwd: string;
  readonly baseEnv: NodeJS.ProcessEnv;
  /** Where ralph itself is installed: its programs are not the project's. */
  readonly ownRoot: string;
}

export function gateEnvironment(
  { env }: GateSettings,
  { baseEnv, ownRoot }: GatePlace,
): Readonly<Record<string, string>> {
  return { ...baseEnv, PATH: outsidePath(baseEnv["PATH"], ownRoot), ...env };
}

/** Variable settings, a first word without anything to expand, and the rest. */
const COMMAND =
  /^\s*((?:[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s"'`;&|<>()])*\s+)*)(["']?)([\w.,+@%:/-]+)\2(?=[\s;&|<>()]|$)(.*)/s;

/** Words of the shell that are no program of their own. */
const SHELL_WORDS = new Set(
  ". : alias bg break builtin call case cd command continue declare echo eval exec exit export false fc fg for function getopts goto hash if jobs kill let local mkdir popd printf pushd pwd read readonly return rmdir select set shift source test time times trap true type typeset ulimit umask unalias unset until wait while".split(
    " ",
  ),
);

/** Other modules may be the project's own, which the task has yet to write. */
const PYTHON_TOOLS =
  /^(?:bandit|basedpyright|behave|black|build|coverage|flake8|hatch|isort|mypy|nose2?|nox|pdm|poetry|pre_commit|pycodestyle|pydocstyle|pyflakes|pylint|pyright|pytest|robot|ruff|tox|twine|ty|vulture)$/;

/** What a gate's command begins with and this machine lacks; null when it is there, or when only the shell can tell. */
export async function missingProgram(gate: GateSettings, place: GatePlace): Promise<string | null> {
  const cwd = resolve(place.cwd, gate.cwd ?? "");
  const env = gateEnvironment(gate, place);
  if (findProgram("sh", cwd, env) === null) return "sh";
  const [, settings = "", , program = "", rest = ""] = COMMAND.exec(gate.command) ?? [];
  if (program === "" || SHELL_WORDS.has(program) || /(?:^|\s)PATH=/.test(settings)) return null;
  const found = findProgram(program, cwd, env);
  // A script of the repository may be the task's to write: without it the gate is red.
  if (found === null)
    return program.includes("/") && !isOutside(place.cwd, resolve(cwd, program)) ? null : program;
  const module = /python[\d.]*$/.test(program) ? (/^\s+-m\s+(\w+)/.exec(rest)?.[1] ?? "") : "";
  if (!PYTHON_TOOLS.test(module)) return null;
  const look = `import importlib.util; print(importlib.util.find_spec("${module}") is not None)`;
  return (await askProgram(found, ["-c", look], { cwd, env })) === "False"
    ? `${module} for ${program}`
    : null;
}

/** Whether what the shell did not find is a file of the repository, which is the agent's to bring back. */
export function lacksOwnFile(output: string, folder: string, root: string): boolean {
  const complaint = /(\S+): (?:(?:command )?(not found)|No such file(?: or directory)?)$/;
  const line = output.split("\n").findLast((each) => complaint.test(each)) ?? "";
  const [, name = "", isProgram] = complaint.exec(line) ?? [];
  if (name === "" || (isProgram !== undefined && !name.includes("/"))) return false;
  return !existsSync(resolve(folder, name)) && !(isAbsolute(name) && isOutside(root, name));
}
