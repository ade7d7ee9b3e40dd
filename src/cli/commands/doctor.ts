import type { Command } from "commander";
import {
  askProgram,
  driverOf,
  hasLog,
  mendLog,
  openLog,
  openProject,
  prepareFolder,
  readConfig,
  type Project,
} from "../../compose.ts";
import type { Config } from "../../config/schema.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { agentFindings } from "../doctor/agent-findings.ts";
import { problem, type Finding } from "../doctor/finding.ts";
import { gateFindings } from "../doctor/gate-findings.ts";
import { lockFinding } from "../doctor/lock-finding.ts";
import { notifyFindings } from "../doctor/notify-findings.ts";
import { pluginFindings } from "../doctor/plugin-findings.ts";
import { queueFinding } from "../doctor/queue-finding.ts";
import { sandboxFinding } from "../doctor/sandbox-finding.ts";
import { styleFor } from "../print/style.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--notify", "send a test notice through everything that is configured under [notify]")
    .option("--fix", "mend what can be mended without harm: a missing repository, locks that a dead git left")
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => doctor(flags, context)));
}

interface Flags {
  readonly notify?: boolean;
  readonly fix?: boolean;
  readonly json?: boolean;
}

async function doctor(flags: Flags, context: CliContext): Promise<number> {
  const look = async (sendsTest: boolean): Promise<readonly Finding[]> => [
    ...(await machine(context)),
    ...(await repository(context, sendsTest)),
  ];
  const seen = await look(flags.notify === true);
  const findings = flags.fix === true && (await mend(seen, context)) ? await look(false) : seen;
  if (flags.json === true) context.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
  else {
    const style = styleFor(context.stdout, context.env);
    for (const { name, well, found, advice } of findings) {
      context.stdout.write(`${well ? style.good("✔") : style.bad("✗")} ${name}: ${found}\n`);
      if (!well && advice !== null) context.stdout.write(`    → ${advice}\n`);
    }
  }
  return findings.every((finding) => finding.well) ? 0 : 1;
}

/** Whether there was anything to mend. */
async function mend(findings: readonly Finding[], { stderr }: CliContext): Promise<boolean> {
  const mendable = findings.flatMap(({ name, well, mend: put }) =>
    well || put === undefined ? [] : [{ name, put }],
  );
  for (const { name, put } of mendable) stderr.write(`mended: ${name}: ${await put()}\n`);
  return mendable.length > 0;
}

async function machine(context: CliContext): Promise<readonly Finding[]> {
  const git = await askProgram("git", ["--version"], context);
  return [
    { name: "node", well: true, found: process.version, advice: null },
    { name: "git", well: git !== null, found: git ?? "not installed", advice: "install git 2.30 or newer" },
  ];
}

async function repository(context: CliContext, sendsTest: boolean): Promise<readonly Finding[]> {
  try {
    const project = await openProject(context);
    return [
      { name: "repository", well: true, found: project.root, advice: null },
      await identity(project, context),
      await state(project, context),
      folder(project),
      await lockFinding(project),
      ...(await configured(project, context, sendsTest)),
    ];
  } catch (error) {
    const found = problem("repository", error);
    return [found.advice === "git init" ? { ...found, mend: () => makeRepository(context) } : found];
  }
}

async function configured(
  project: Project,
  context: CliContext,
  sendsTest: boolean,
): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = await readConfig(project);
  } catch (error) {
    const found = problem("configuration", error);
    return [{ ...found, advice: found.advice ?? "mend it; agents and gates are looked at then" }];
  }
  return [
    ...(await agentFindings(config, project, context)),
    ...pluginFindings(config, project.root),
    await sandboxFinding(config, project.root, context),
    ...(await gateFindings(config, project, context)),
    ...(await notifyFindings(config, project, context, sendsTest)),
  ];
}

async function makeRepository(context: CliContext): Promise<string> {
  const said = await askProgram("git", ["init"], context);
  if (said === null) throw new RalphError("git-failed", `git init failed in ${context.cwd}`);
  return said;
}

async function identity(project: Project, context: CliContext): Promise<Finding> {
  const email = await askProgram("git", ["config", "user.email"], { cwd: project.root, env: context.env });
  const found =
    email === null || email === "" ? "none set; commits of ours are by Ralph <ralph@localhost>" : email;
  return { name: "git identity", well: true, found, advice: null };
}

async function state(project: Project, { env }: CliContext): Promise<Finding> {
  if (project.queue !== null) return queueFinding(project);
  try {
    if (!hasLog(project)) return { name: "state", well: true, found: "no run yet", advice: null };
    const { log, notice: atOpening } = await openLog(project, env);
    await log.close();
    const notice = atOpening ?? mendLog(project);
    const driver = driverOf(project);
    const running = driver === null ? "" : `, a run is active (pid ${driver.pid ?? "unknown"})`;
    return {
      name: "state",
      well: notice === null,
      found: notice ?? `${project.stateFile}${running}`,
      advice: "nothing to do",
    };
  } catch (error) {
    return problem("state", error);
  }
}

function folder(project: Project): Finding {
  try {
    prepareFolder(project);
    return { name: "folder", well: true, found: `${project.ralphDir} is writable`, advice: null };
  } catch (error) {
    return problem("folder", error);
  }
}
