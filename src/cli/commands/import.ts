import { relative } from "node:path";
import { Option, type Command } from "commander";
import {
  githubPlace,
  IMPORT_FORMATS,
  importTasks,
  openProject,
  prepareFolder,
  readConfig,
  usualPlace,
  writeImported,
  type ImportRequest,
  type Project,
} from "../../compose.ts";
import type { Act, CliContext } from "../commands.ts";

interface Flags {
  readonly from?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument(
      "<file>",
      "a file with tasks, or a folder of the program that keeps them; github or github:LABEL takes issues",
    )
    .addOption(
      new Option("--from <format>", "what the file is; without it, that shows").choices(
        Object.keys(IMPORT_FORMATS),
      ),
    )
    .option("--dry-run", "print what would be written, and write nothing")
    .option("--force", "replace a tasks.json that is there")
    .option("--json", "print JSON")
    .action((file: string, flags: Flags) => act((context) => importFile(file, flags, context)));
}

/** Makes stories of somebody's tasks; the original stays as it is. */
async function importFile(file: string, flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const request = await requestOf(file, flags, project, context);
  const imported = await importTasks(request, { ...context, ...project });
  const { count, as, source, losses, json, isThere } = imported;
  const path = relative(project.root, imported.path);
  const tasks = `${count} ${count === 1 ? "task" : "tasks"}`;
  const lost = losses.map((loss) => `Left out, as a tasks.json cannot say it: ${loss}.\n`).join("");
  if (flags.dryRun === true) {
    context.stdout.write(json);
    const there = isThere ? "; it is there already, so --force would be needed" : "";
    context.stderr.write(
      `ralph: would write ${tasks} from ${source}, read as ${as}, into ${path}${there}\n${lost}`,
    );
    return 0;
  }
  prepareFolder(project);
  writeImported(imported, flags.force === true);
  if (flags.json === true) {
    context.stdout.write(`${JSON.stringify({ path, tasks: count, read_as: as, left_out: losses })}\n`);
    return 0;
  }
  context.stdout.write(`${path}: ${tasks} from ${source}\n`);
  context.stdout.write(
    `Read as ${as}. The original stays as it is; to work on it in place: ralph run --source ${source}\n`,
  );
  context.stdout.write(lost);
  context.stdout.write("Look them over (ralph tasks), add verifyCommands, then: ralph run\n");
  return 0;
}

async function requestOf(
  file: string,
  { from }: Flags,
  project: Project,
  { env }: CliContext,
): Promise<ImportRequest> {
  const mayBeIssues = from === undefined && /^github(?::|$)/.test(file);
  const place = mayBeIssues ? githubPlace(file, usualPlace(await readConfig(project, env))) : null;
  return place === null ? { is: "file", path: file, from } : { is: "github", place };
}
