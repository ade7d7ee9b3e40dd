import { relative } from "node:path";
import type { Command } from "commander";
import { importTasks, openProject } from "../../compose.ts";
import type { Act, CliContext } from "../commands.ts";

interface Flags {
  readonly force?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument("<file>", "a Markdown document with a checklist")
    .option("--force", "replace a tasks.json that is there")
    .option("--json", "print JSON")
    .action((file: string, flags: Flags) => act((context) => importFile(file, flags, context)));
}

/** Makes stories of a document's checklist; the document stays as it is. */
async function importFile(file: string, flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const imported = importTasks(project, file, { cwd: context.cwd, force: flags.force === true });
  const path = relative(project.root, imported.path);
  if (flags.json === true) {
    context.stdout.write(`${JSON.stringify({ path, tasks: imported.count })}\n`);
    return 0;
  }
  context.stdout.write(
    `${path}: ${imported.count} ${imported.count === 1 ? "task" : "tasks"} from ${file}\n`,
  );
  context.stdout.write("Look them over (ralph tasks), add verifyCommands, then: ralph run\n");
  return 0;
}
