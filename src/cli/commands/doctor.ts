import { missingGates, programOf } from "../../app/prepare-run.ts";
import { type Project, driverOf, openProject, readConfig, workersOf } from "../../app/project.ts";
import { builtInAgents } from "../../app/plugins.ts";
import { sandboxTroubles, channelsOf } from "../../app/run-ports.ts";
import { hasLog, mendLog, openLog } from "../../app/project-log.ts";
import { desktopProgram } from "../../adapters/notify/desktop-channel.ts";
import { accountOf } from "../../adapters/agents/programs/accounts.ts";
import { askProgram } from "../../adapters/process/supervise.ts";
import { capabilitiesOf } from "../../adapters/agents/adapters.ts";
import { findProgram } from "../../adapters/process/process-table.ts";
import { prepareRalphFolder } from "../../adapters/files/ralph-folder.ts";
import { PROGRAM_FACTS, installCommand } from "../../adapters/agents/programs/program-belongings.ts";
import { agentNamed, isProgramFormat } from "../../core/agents.ts";
import type { Channel } from "../../engine/ports.ts";
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Command } from "commander";
import { tell, type Act, type CliContext } from "../commands.ts";
import { describeUrl } from "../../adapters/fleet/connection-settings.ts";
import { findRepository } from "../../adapters/git/find-repository.ts";
import { runGitAtOnce, textOf } from "../../adapters/git/git.ts";
import { findStaleLocks, removeStaleLocks } from "../../adapters/git/stale-locks.ts";
import { requireAgent, resolveAgents } from "../../config/resolve-agents.ts";
import { resolveGates, resolveNotify, resolveSandbox, resolveStages } from "../../config/resolve-settings.ts";
import type { Config } from "../../config/schema.ts";
import { onlyPretends } from "../../core/demo/demo-usage.ts";
import type { Notice } from "../../core/views/notice.ts";
import { RalphError } from "../../core/errors.ts";
import type { AgentSettings, NotifySettings } from "../../core/settings.ts";
import { agentsOfStages } from "../../core/loop/stages.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--notify", "send a test notice through everything that is configured under [notify]")
    .option("--fix", "mend what can be mended without harm: a missing repository, locks that a dead git left")
    .option("--json", "print JSON")
    .action(act(doctor));
}

/** One thing that was looked at; `advice` says what to do when it is not well. */
interface Finding {
  readonly name: string;
  readonly well: boolean;
  readonly found: string;
  readonly advice: string | null;
  /** Puts it right where that can do no harm; answers what it did. */
  readonly mend?: () => string | Promise<string>;
}

function well(name: string, found: string): Finding {
  return { name, well: true, found, advice: null };
}

function ill(name: string, found: string, advice: string | null): Finding {
  return { name, well: false, found, advice };
}

function problem(name: string, { message, hint }: RalphError): Finding {
  return ill(name, message, hint ?? null);
}

/** What comes of it, or why it cannot be. */
async function attempt<Result>(work: () => Promise<Result> | Result): Promise<Result | RalphError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RalphError) return error;
    throw error;
  }
}

async function findingOf(name: string, look: () => Promise<string> | string): Promise<Finding> {
  const found = await attempt(look);
  return found instanceof RalphError ? problem(name, found) : well(name, found);
}

async function doctor(
  context: CliContext,
  { notify = false, fix = false }: { notify?: boolean; fix?: boolean },
): Promise<number> {
  let findings = await look(context, notify);
  const mendable = fix ? findings.filter((one) => !one.well && one.mend !== undefined) : [];
  for (const { name, mend } of mendable) context.stderr.write(`mended: ${name}: ${await mend?.()}\n`);
  if (mendable.length > 0) findings = await look(context, false);
  const { good, bad } = context.style;
  tell(context, findings, () =>
    findings.flatMap(({ name, well: isWell, found, advice }) => [
      `${isWell ? good("✔") : bad("✗")} ${name}: ${found}`,
      ...(isWell || advice === null ? [] : [`    → ${advice}`]),
    ]),
  );
  return findings.every((finding) => finding.well) ? 0 : 1;
}

async function look(context: CliContext, sendsTest: boolean): Promise<readonly Finding[]> {
  const git = askGit(["--version"], context);
  return [
    well("node", process.version),
    git === null ? ill("git", "not installed", "install git 2.30 or newer") : well("git", git),
    ...(await repository(context, sendsTest)),
  ];
}

async function repository(context: CliContext, sendsTest: boolean): Promise<readonly Finding[]> {
  const project = await attempt(() => openProject(context));
  if (project instanceof RalphError) {
    const found = problem("repository", project);
    return [project.hint === "git init" ? { ...found, mend: () => makeRepository(context) } : found];
  }
  const { root, env, ralphDir } = project;
  const email = askGit(["config", "user.email"], { cwd: root, env });
  return [
    well("repository", root),
    well("git identity", email || "none set; commits of ours are by Ralph <ralph@localhost>"),
    project.queue === null ? await state(project) : await findingOf("queue", () => queue(project)),
    await findingOf("folder", () => {
      prepareRalphFolder(ralphDir);
      return `${ralphDir} is writable`;
    }),
    await lockFinding(project),
    ...(await configured(project, context.version, sendsTest)),
  ];
}

function askGit(args: readonly string[], place: Pick<Project, "env"> & { cwd: string }): string | null {
  const { code, stdout } = runGitAtOnce(args, place);
  return code === 0 ? textOf(stdout).trim() : null;
}

function makeRepository(context: CliContext): string {
  const said = askGit(["init"], context);
  if (said === null) throw new RalphError("git-failed", `git init failed in ${context.cwd}`);
  return said;
}

async function state(project: Project): Promise<Finding> {
  let notice: string | null = null;
  const found = await findingOf("state", async () => {
    if (!hasLog(project)) return "no run yet";
    const log = await openLog({ ...project, say: (text) => (notice = text) });
    await log.close();
    notice ??= mendLog(project);
    const driver = driverOf(project);
    return `${project.stateFile}${driver === null ? "" : `, a run is active (pid ${driver.pid ?? "unknown"})`}`;
  });
  return notice === null ? found : ill("state", notice, "nothing to do");
}

async function queue(project: Project): Promise<string> {
  const name = describeUrl(project.queue?.url ?? "");
  const { here = [], vanished = [] } = Object.groupBy((await workersOf(project)) ?? [], ({ is }) => is);
  const lost = vanished.length === 0 ? "" : `, ${vanished.length} vanished in the last day`;
  const many = here.length === 1 ? "worker is" : "workers are";
  return `the database ${name} answers, ${here.length} ${many} here${lost}`;
}

/** Lock files of git that nobody holds: every git that wants to write fails there. */
async function lockFinding(project: Project): Promise<Finding> {
  const locks = findStaleLocks(await findRepository(project.root));
  if (locks.length === 0) return well("locks", "no stale git locks");
  const names = locks.map((lock) => relative(project.root, lock)).join(", ");
  const advice = "ralph doctor --fix removes it; a run of ours does, too";
  return {
    ...ill("locks", `a git that died has left ${names}`, advice),
    mend: async () => {
      await removeStaleLocks(await findRepository(project.root));
      return `removed ${names}`;
    },
  };
}

async function configured(
  project: Project,
  version: string,
  sendsTest: boolean,
): Promise<readonly Finding[]> {
  const config = await attempt(() => readConfig(project));
  if (config instanceof RalphError)
    return [
      ill("configuration", config.message, config.hint ?? "mend it; agents and gates are looked at then"),
    ];
  const agents = await attempt(() => agentFindings(config, project));
  return [
    ...(agents instanceof RalphError ? [problem(`agent ${config.agent}`, agents)] : agents),
    ...config.plugins.map((plugin) => pluginFinding(plugin, project.root)),
    await sandboxFinding(config, project),
    ...(await gateFindings(config, project)),
    ...(await notifyFindings(config, project, version, sendsTest)),
  ];
}

async function gateFindings(config: Config, project: Project): Promise<readonly Finding[]> {
  const gates = resolveGates(config.gates, [], []);
  const missing = await missingGates(gates, { project });
  return gates.map((gate) => {
    const lack = missing.find((each) => each.gate === gate);
    const name = `gate ${gate.name}`;
    return lack === undefined ? well(name, gate.command) : ill(name, lack.why, lack.remedy);
  });
}

/** As far as one can tell without loading it: whoever only looks at a repository runs nothing of it. */
function pluginFinding(plugin: string, root: string): Finding {
  const name = `plugin ${plugin}`;
  if (!/^[./]/.test(plugin) || existsSync(resolve(root, plugin)))
    return well(name, "loaded when a run starts");
  return ill(name, "there is no such file", "paths of plugins count from the root of the repository");
}

const SANDBOXES = {
  bubblewrap: "bubblewrap",
  hosts: "bubblewrap with a list of hosts",
  docker: "docker",
} as const;

/** What agents could run in here; only what is configured has to be well. */
async function sandboxFinding({ sandbox }: Config, { root, env }: Project): Promise<Finding> {
  const troubles = await sandboxTroubles(root, env);
  const { kind, network } = sandbox;
  const wanted = kind === "bubblewrap" && typeof network === "object" ? "hosts" : kind;
  // What is configured may be had nowhere.
  const settings = await attempt(() => resolveSandbox({ sandbox }, undefined));
  const trouble = settings instanceof RalphError ? settings : wanted === "none" ? null : troubles[wanted];
  const kinds = (["bubblewrap", "hosts", "docker"] as const).map(
    (one) => `${SANDBOXES[one]}: ${troubles[one]?.message ?? "possible"}`,
  );
  const configuredNow = wanted === "none" ? "none" : SANDBOXES[wanted];
  return {
    name: "sandbox",
    well: trouble === null,
    found: `${configuredNow} configured · ${kinds.join(" · ")}`,
    advice: trouble?.hint ?? null,
  };
}

/** Every agent that could work here. Only those that a run would use have to be well. */
async function agentFindings(config: Config, project: Project): Promise<readonly Finding[]> {
  const staged = agentsOfStages({ agent: config.agent, stages: resolveStages(config) ?? [] });
  const used = [...new Set([...staged, ...config.run.fallback_agents])];
  const agents = resolveAgents(config, builtInAgents(), { name: config.agent });
  // Which agents plugins have is known only when they are loaded.
  const isPlugins = (name: string): boolean => config.plugins.length > 0 && agentNamed(name, agents) === null;
  // Those that are named by their command are in no list.
  const named = used.filter((name) => !isPlugins(name)).map((name) => requireAgent(name, agents));
  const known = [...new Set([...agents, ...named])];
  return [
    ...(await Promise.all(known.map((agent) => agentFinding(agent, used.includes(agent.name), project)))),
    ...used
      .filter(isPlugins)
      .map((name) => well(`agent ${name}`, "not built in: a plugin has to bring it along")),
  ];
}

async function agentFinding(agent: AgentSettings, isUsed: boolean, { root, env }: Project): Promise<Finding> {
  const name = `agent ${agent.name}`;
  const program = programOf(agent);
  const path = findProgram(program, root, env);
  const install = installCommand(program);
  const facts = agent.command === null && isProgramFormat(agent.format) ? PROGRAM_FACTS[agent.format] : null;
  if (path === null) {
    const advice = install ?? `install ${program}, or take ${agent.name} out of .ralph/ralph.toml`;
    if (isUsed || facts === null) return ill(name, `${program} is not installed`, advice);
    return { ...well(name, `not installed (${advice})`), advice };
  }
  if (facts === null) return well(name, onlyPretends(agent) ? "built in; it only pretends to work" : path);
  const account = accountOf(agent, env);
  const version = (await askProgram(path, ["--version"], { cwd: root, env }))?.split("\n")[0];
  const tried = version?.includes(facts.triedVersion) === true ? "" : ` (tried with ${facts.triedVersion})`;
  const parts = [
    version === undefined ? "does not tell its version" : `${version}${tried}`,
    path,
    account === null ? "account not known" : account.isThere ? `uses ${account.says}` : account.says,
    abilitiesOf(agent),
  ];
  return {
    name,
    well: !isUsed || (version !== undefined && (account?.isThere ?? true)),
    found: parts.join(" · "),
    advice: version === undefined ? install : facts.login,
  };
}

function abilitiesOf(agent: AgentSettings): string {
  const { resumes, takesMessages, takesMcpServers, tells } = capabilitiesOf(agent);
  return [
    resumes ? "resumes sessions" : [],
    takesMcpServers ? "gets our tools" : [],
    takesMessages ? "takes messages while it runs" : [],
    tells === "nothing" ? [] : `tells its ${tells}`,
  ]
    .flat()
    .join(", ");
}

/** How people would be told of what happens; with `sends`, they are told something now. */
async function notifyFindings(
  config: Config,
  project: Project,
  version: string,
  sends: boolean,
): Promise<readonly Finding[]> {
  const notify = resolveNotify(config);
  const channels = channelsOf({ project, commands: { agents: [], gates: [], notify }, version });
  if (sends && channels.length > 0) return Promise.all(channels.map(tried));
  if (channels.length > 0) return channels.map((channel) => channelFinding(channel, notify, project));
  const found = "off: none of webhook, desktop and command is configured";
  const advice = "configure one under [notify] in .ralph/ralph.toml";
  return [sends ? ill("notify", found, advice) : well("notify", found)];
}

async function tried(channel: Channel): Promise<Finding> {
  const { name, shown } = channel;
  const at = Date.now();
  const text = "this is a test: notices of ralph arrive here";
  const nothing = { run: null, task: null, command: null, event: null };
  const notice: Notice = { ...nothing, id: `test-${at}`, position: 0, kind: "test", at, text };
  const delivery = await channel.send(notice, new AbortController().signal);
  return delivery.is === "delivered"
    ? well(`notify ${name}`, `a test notice was sent to ${shown}`)
    : ill(`notify ${name}`, `${shown}: ${delivery.why}`, "see [notify] in .ralph/ralph.toml");
}

function channelFinding(
  channel: Channel,
  { webhook, command }: NotifySettings,
  { root, env }: Project,
): Finding {
  const name = `notify ${channel.name}`;
  const needs = (program: string, found: string): Finding =>
    /[=$(`"']/.test(program) || findProgram(program, root, env) !== null
      ? well(name, found)
      : ill(name, `${program} is not installed`, `install ${program}`);
  switch (channel.name) {
    case "webhook": {
      const { url = "", format = "json", secret = null } = webhook ?? {};
      const signed = secret === null ? "not signed" : "signed";
      return well(name, `${new URL(url).host} gets ${format}, ${signed}; try it: ralph doctor --notify`);
    }
    case "desktop":
      return needs(desktopProgram(), desktopProgram());
    case "command":
      return needs((command ?? "").trim().split(/\s+/)[0] ?? "", "is run for each notice");
    default:
      return well(name, "is told by its plugin");
  }
}
