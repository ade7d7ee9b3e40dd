import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { Option, type Command } from "commander";
import {
  detectedLists,
  detectedSource,
  openProject,
  prepareFolder,
  readConfig,
  type Project,
} from "../../compose.ts";
import { findConfig } from "../../config/find-config.ts";
import { BUILD_TEMPLATE } from "../../core/prompt/template.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { configText } from "../init/config-text.ts";
import { detectProject, type Detected } from "../init/detect-project.ts";
import { withIgnoreLines } from "../init/ignore-lines.ts";
import { listLines } from "../init/list-lines.ts";
import { InitReport } from "../init/init-report.ts";
import { readHooks, writeHooks } from "../init/install-hooks.ts";
import { nextSteps, type Beginning } from "../init/next-steps.ts";
import { notesTemplate, TEMPLATES, type TemplateKind } from "../init/templates.ts";
import { findPrd } from "../plan/find-prd.ts";

interface Flags {
  readonly source?: TemplateKind;
  readonly name?: string;
  readonly prompts?: boolean;
  readonly hooks?: boolean;
  readonly force?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .addOption(
      new Option("--source <kind>", "which example to write: a kind of task source, or requirements").choices(
        Object.keys(TEMPLATES),
      ),
    )
    .option("--name <name>", "the project's name in the examples")
    .option("--prompts", "write the built-in prompt templates out for editing")
    .option("--hooks", "let Claude Code ask ralph before it stops, in the project's own settings")
    .option(
      "--force",
      "write the configuration, prompts and hooks anew; tasks, requirements and notes are never overwritten",
    )
    .action((flags: Flags) => act((context) => init(flags, context)));
}

/** Writes what is missing and says so; doing it again changes nothing. */
async function init(flags: Flags, context: CliContext): Promise<number> {
  const name = nameOf(flags.name);
  const project = await openProject(context);
  const renew = flags.force === true;
  const detected = detectProject(project.root, context.env);
  const config = join(project.ralphDir, "ralph.toml");
  const other = existsSync(config) ? null : await findConfig(project.root, project.ralphDir);
  const isConfigured = other !== null || (existsSync(config) && !renew);
  const { agent } = flags.hooks === true && isConfigured ? await readConfig(project, context.env) : detected;
  // Read before anything is written, so that a damaged file leaves nothing half done.
  const hooks = flags.hooks === true ? readHooks(project, context, { agent, renew }) : null;
  prepareFolder(project);
  const report = new InitReport(project, context, renew);
  if (other !== null) report.found(other.shown);
  else report.write(config, configText(detected), foundInWords(detected));
  if (!isConfigured && detected.gates.problem !== null)
    context.stderr.write(
      `ralph: ${detected.gates.problem}; its scripts are not among the gates\n  → repair it, then: ralph init --force\n`,
    );
  if (flags.prompts === true)
    report.write(join(project.ralphDir, "prompts", "build.md"), BUILD_TEMPLATE, "the built-in prompt");
  const beginning = begin(project, flags.source, name, report);
  const gitignore = join(project.root, ".gitignore");
  const ignore = withIgnoreLines(gitignore, relative(project.root, project.ralphDir));
  if (ignore !== null) report.replace(gitignore, ignore, "what is not for the repository");
  const toCommit = hooks === null ? [] : writeHooks(hooks, report);
  if (!report.hasWritten) report.say("\nEverything is there already: nothing was changed.");
  const hasAgent = isConfigured || detected.agent !== null;
  const hasGates = detected.gates.chosen.length > 0;
  for (const line of nextSteps(beginning, { toCommit, hasAgent, hasGates })) report.say(line);
  return 0;
}

function foundInWords({ agent, gates }: Detected): string {
  const checks = gates.chosen.map(({ name, command }) => `${name}: ${command}`);
  const found = checks.length === 0 ? "no tests were recognised" : checks.join(", ");
  return `agent: ${agent ?? "demo, as none was found"}; ${found}`;
}

function nameOf(said: string | undefined): string | null {
  if (said === undefined) return null;
  const name = said.trim();
  if (name !== "" && !/\p{Cc}/u.test(name)) return name;
  throw new RalphError("usage", `--name is ${JSON.stringify(said)}; expected a name on one line`);
}

/** An example only where there is nothing to work from yet, or the kind that was asked for. */
function begin(
  project: Project,
  kind: TemplateKind | undefined,
  name: string | null,
  report: InitReport,
): Beginning {
  if (kind === undefined) {
    const found = detectedSource(project);
    if (found !== null) {
      report.found(found.path ?? found.label);
      for (const line of listLines(detectedLists(project))) report.say(line);
      return { is: found.kind === "prompt" ? "prompt" : "tasks", path: found.path ?? found.label };
    }
    const prd = findPrd(project);
    if (prd !== null) {
      report.found(report.shown(prd));
      return { is: "requirements", path: report.shown(prd) };
    }
  }
  return beginWith(project, kind ?? "checklist", name, report);
}

function beginWith(
  { root, ralphDir }: Project,
  kind: TemplateKind,
  name: string | null,
  report: InitReport,
): Beginning {
  const template = TEMPLATES[kind];
  const path = join(template.isOurs ? ralphDir : root, template.path);
  report.begin(path, template.text(name), "an example to replace");
  if (kind === "prd" || kind === "tasks")
    report.begin(join(ralphDir, "progress.txt"), notesTemplate(name), "notes that agents leave each other");
  const is = kind === "prd" ? "requirements" : kind === "prompt" ? "prompt" : "tasks";
  return { is, path: report.shown(path) };
}
