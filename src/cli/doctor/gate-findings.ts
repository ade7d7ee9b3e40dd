import { askProgram, findProgram, type Project } from "../../compose.ts";
import type { Config } from "../../config/schema.ts";
import { pythonModule } from "../../core/report/python-module.ts";
import type { CliContext } from "../commands.ts";
import type { Finding } from "./finding.ts";

/** Whether the programs of the gates are installed. */
export async function gateFindings(
  config: Config,
  project: Project,
  context: CliContext,
): Promise<readonly Finding[]> {
  return Promise.all(
    config.gates.map(async ({ name, command }) => {
      const missing = await missingProgram(command, project, context);
      return {
        name: `gate ${name}`,
        well: missing === null,
        found: missing === null ? command : `${missing} is not installed`,
        advice: `install ${missing}, or take the gate out of .ralph/ralph.toml`,
      };
    }),
  );
}

async function missingProgram(
  command: string,
  { root }: Project,
  { env }: CliContext,
): Promise<string | null> {
  const program = command.trim().split(/\s+/)[0] ?? "";
  const needsShell = /[=$(`"']/.test(program);
  if (!needsShell && findProgram(program, root, env) === null) return program;
  const run = pythonModule(command);
  if (needsShell || run === null) return null;
  const look = `import importlib.util; print(importlib.util.find_spec("${run.module.split(".")[0]}") is not None)`;
  const said = await askProgram(run.python, ["-c", look], { cwd: root, env });
  return said === "False" ? `${run.module}, for ${run.python}` : null;
}
