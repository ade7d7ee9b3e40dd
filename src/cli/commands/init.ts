import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Option, type Command } from "commander";
import { detectedSource, openProject, prepareFolder, type Project } from "../../compose.ts";
import { BUILD_TEMPLATE } from "../../core/prompt/template.ts";
import type { Act, CliContext } from "../commands.ts";
import { detectProject } from "../init/detect-project.ts";
import { withIgnoreLines } from "../init/ignore-lines.ts";
import { configText, SOURCE_TEMPLATES, type SourceTemplate } from "../init/templates.ts";

interface Flags {
  readonly source?: SourceTemplate;
  readonly prompts?: boolean;
  readonly force?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .addOption(
      new Option("--source <kind>", "which example of a task source to write").choices(
        Object.keys(SOURCE_TEMPLATES),
      ),
    )
    .option("--prompts", "write the built-in prompt templates out for editing")
    .option("--force", "write the configuration and the templates anew; task sources are never overwritten")
    .action((flags: Flags) => act((context) => init(flags, context)));
}

/** Writes what is missing and says so; doing it again changes nothing. */
async function init(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  prepareFolder(project);
  const report = new Report(project, context, flags.force === true);
  const detected = detectProject(project.root, context.env);
  report.write(
    join(project.ralphDir, "ralph.toml"),
    configText(detected),
    detected.tests === null ? "no tests were recognised" : `tests: ${detected.tests.command}`,
  );
  if (flags.prompts === true)
    report.write(join(project.ralphDir, "prompts", "build.md"), BUILD_TEMPLATE, "the built-in prompt");
  const source = writeSource(project, flags.source, report);
  const gitignore = join(project.root, ".gitignore");
  const ignore = withIgnoreLines(gitignore, relative(project.root, project.ralphDir));
  if (ignore !== null) report.replace(gitignore, ignore, "what is not for the repository");
  nextSteps(source, context);
  return 0;
}

/** An example only where there is no task source yet, or the kind that was asked for. */
function writeSource(project: Project, kind: SourceTemplate | undefined, report: Report): string {
  const found = kind === undefined ? detectedSource(project) : null;
  if (found !== null) {
    report.say(`found  ${found}`);
    return found;
  }
  const template = SOURCE_TEMPLATES[kind ?? "checklist"];
  const path = join(project.root, template.path);
  if (existsSync(path)) report.say(`kept   ${template.path}`);
  else report.replace(path, template.text, "an example to replace");
  return template.path;
}

function nextSteps(source: string, { stdout }: CliContext): void {
  stdout.write(`
Next:
  1. write your tasks into ${source}
  2. ralph run --dry-run     # what would be done, and the first prompt
  3. ralph run
`);
}

class Report {
  readonly #project: Project;
  readonly #context: CliContext;
  readonly #force: boolean;

  constructor(project: Project, context: CliContext, force: boolean) {
    this.#project = project;
    this.#context = context;
    this.#force = force;
  }

  say(line: string): void {
    this.#context.stdout.write(`${line}\n`);
  }

  /** Unless it is there already. */
  write(path: string, text: string, what: string): void {
    if (existsSync(path) && !this.#force) this.say(`kept   ${this.#shown(path)}`);
    else this.replace(path, text, what);
  }

  replace(path: string, text: string, what: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    this.say(`wrote  ${this.#shown(path).padEnd(24)} ${what}`);
  }

  #shown(path: string): string {
    return relative(this.#project.root, path);
  }
}
