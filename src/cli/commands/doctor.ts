import { agentNamed, isProgramFormat } from "../../core/agents.ts";
import type { Channel, ChannelName } from "../../engine/ports.ts";
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { styleFor } from "../print/style.ts";
import { missingGates, programOf } from "../prepare-run.ts";
import { channelsOf, desktopProgram } from "../../compose-notify.ts";
import { removeLocks, staleLocksOf } from "../../compose-project.ts";
import { sandboxTroubles } from "../../compose-sandbox.ts";
import {
  accountOf,
  askProgram,
  builtInAgents,
  capabilitiesOf,
  driverOf,
  findProgram,
  hasLog,
  mendLog,
  openLog,
  openProject,
  prepareFolder,
  installCommand,
  PROGRAM_FACTS,
  queueNameOf,
  readConfig,
  workersOf,
  type Project,
} from "../../compose.ts";
import { requireAgent, resolveAgents } from "../../config/resolve-agents.ts";
import { resolveGates, resolveNotify, resolveSandbox, resolveStages } from "../../config/resolve-settings.ts";
import type { Config } from "../../config/schema.ts";
import { onlyPretends } from "../../core/demo/demo-usage.ts";
import type { Notice } from "../../core/notices/notice.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { AgentSettings, NotifySettings } from "../../core/settings.ts";
import { agentsOfStages } from "../../core/stages/stages.ts";

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

/** One thing that was looked at; `advice` says what to do when it is not well. */
interface Finding {
  readonly name: string;
  readonly well: boolean;
  readonly found: string;
  readonly advice: string | null;
  /** Puts it right where that can do no harm; answers what it did. */
  readonly mend?: () => Promise<string>;
}

function problem(name: string, error: unknown): Finding {
  if (!(error instanceof RalphError)) throw error;
  return { name, well: false, found: error.message, advice: error.hint ?? null };
}

async function gateFindings(
  config: Config,
  project: Project,
  context: CliContext,
): Promise<readonly Finding[]> {
  const gates = resolveGates(config.gates, [], []);
  const missing = await missingGates(gates, { project, context });
  return gates.map((gate) => {
    const { why = gate.command, remedy = null } = missing.find((each) => each.gate === gate) ?? {};
    return { name: `gate ${gate.name}`, well: remedy === null, found: why, advice: remedy };
  });
}

/** Lock files of git that nobody holds: every git that wants to write fails there. */
async function lockFinding(project: Project): Promise<Finding> {
  const locks = await staleLocksOf(project);
  if (locks.length === 0)
    return { name: "locks", well: true, found: "no git has left any behind", advice: null };
  const names = locks.map((lock) => relative(project.root, lock)).join(", ");
  return {
    name: "locks",
    well: false,
    found: `a git that died has left ${names}`,
    advice: "ralph doctor --fix removes it; a run of ours does, too",
    mend: async () => {
      await removeLocks(project);
      return `removed ${names}`;
    },
  };
}

/** Plugins as far as one can tell without loading them: whoever only looks at a repository runs nothing of it. */
function pluginFindings({ plugins }: Pick<Config, "plugins">, root: string): readonly Finding[] {
  return plugins.map((plugin) => {
    const isPath = plugin.startsWith(".") || plugin.startsWith("/");
    const well = !isPath || existsSync(resolve(root, plugin));
    return {
      name: `plugin ${plugin}`,
      well,
      found: well ? "loaded when a run starts" : "there is no such file",
      advice: "paths of plugins count from the root of the repository",
    };
  });
}

async function queueFinding(project: Project): Promise<Finding> {
  try {
    const name = await queueNameOf(project);
    const workers = (await workersOf(project)) ?? [];
    const here = workers.filter(({ is }) => is === "here").length;
    const vanished = workers.filter(({ is }) => is === "vanished").length;
    const found = [
      `the database ${name} answers`,
      `${here} ${here === 1 ? "worker is" : "workers are"} here`,
      ...(vanished === 0 ? [] : [`${vanished} vanished in the last day`]),
    ];
    return { name: "queue", well: true, found: found.join(", "), advice: null };
  } catch (error) {
    return problem("queue", error);
  }
}

const NAMES = {
  bubblewrap: "bubblewrap",
  hosts: "bubblewrap with a list of hosts",
  docker: "docker",
} as const;

/** What agents could run in here; only what is configured has to be well. */
async function sandboxFinding(
  { sandbox }: Pick<Config, "sandbox">,
  root: string,
  { env }: CliContext,
): Promise<Finding> {
  const troubles = await sandboxTroubles(root, env);
  const wanted = wantedOf(sandbox);
  const trouble = settingsTrouble(sandbox) ?? (wanted === null ? null : troubles[wanted]);
  const kinds = (["bubblewrap", "hosts", "docker"] as const).map(
    (name) => `${NAMES[name]}: ${troubles[name] === null ? "possible" : troubles[name].message}`,
  );
  return {
    name: "sandbox",
    well: trouble === null,
    found: `${wanted === null ? "none" : NAMES[wanted]} configured · ${kinds.join(" · ")}`,
    advice: trouble?.hint ?? null,
  };
}

function wantedOf({ kind, network }: Config["sandbox"]): keyof typeof NAMES | null {
  if (kind === "none") return null;
  return kind === "bubblewrap" && typeof network === "object" ? "hosts" : kind;
}

/** Why what is configured could be had nowhere. */
function settingsTrouble(sandbox: Config["sandbox"]): RalphError | null {
  try {
    resolveSandbox({ sandbox }, undefined);
    return null;
  } catch (error) {
    if (error instanceof RalphError) return error;
    throw error;
  }
}

/** Every agent that could work here. Only those that a run would use have to be well. */
async function agentFindings(
  config: Config,
  { root }: Project,
  { env }: CliContext,
): Promise<readonly Finding[]> {
  const staged = agentsOfStages({ agent: config.agent, stages: resolveStages(config) ?? [] });
  const used = [...new Set([...staged, ...config.run.fallback_agents])];
  try {
    const agents = resolveAgents(config, builtInAgents(), { name: config.agent });
    // Those that are named by their command are in no list.
    const isPlugins = (name: string): boolean =>
      config.plugins.length > 0 && agentNamed(name, agents) === null;
    const others = used
      .filter((name) => !isPlugins(name))
      .map((name) => requireAgent(name, agents))
      .filter((agent) => !agents.includes(agent));
    const known = await Promise.all(
      [...agents, ...others].map((agent) => agentFinding(agent, used.includes(agent.name), root, env)),
    );
    return [...known, ...used.filter(isPlugins).map(pluginsAgent)];
  } catch (error) {
    return [problem(`agent ${config.agent}`, error)];
  }
}

/** Which agents plugins have is known only when they are loaded. */
function pluginsAgent(name: string): Finding {
  return {
    name: `agent ${name}`,
    well: true,
    found: "not built in: a plugin has to bring it along",
    advice: null,
  };
}

async function agentFinding(
  agent: AgentSettings,
  isUsed: boolean,
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<Finding> {
  const name = `agent ${agent.name}`;
  const program = programOf(agent);
  const path = findProgram(program, root, env);
  const facts = agent.command === null && isProgramFormat(agent.format) ? PROGRAM_FACTS[agent.format] : null;
  if (path === null) {
    const advice =
      installCommand(program) ?? `install ${program}, or take ${agent.name} out of .ralph/ralph.toml`;
    const others = isUsed || facts === null;
    return {
      name,
      well: !others,
      found: others ? `${program} is not installed` : `not installed (${advice})`,
      advice,
    };
  }
  if (facts === null) {
    const found = onlyPretends(agent) ? "built in; it only pretends to work" : path;
    return { name, well: true, found, advice: null };
  }
  const account = accountOf(agent, env);
  const version = (await askProgram(path, ["--version"], { cwd: root, env }))?.split("\n")[0];
  const tried = version?.includes(facts.triedVersion) === true ? "" : ` (tried with ${facts.triedVersion})`;
  const parts = [
    version === undefined ? "does not tell its version" : `${version}${tried}`,
    path,
    account === null ? "account not known" : account.isThere ? `uses ${account.says}` : account.says,
    abilitiesOf(agent),
  ];
  const well = version !== undefined && (account?.isThere ?? true);
  return {
    name,
    well: well || !isUsed,
    found: parts.join(" · "),
    advice: version === undefined ? installCommand(program) : facts.login,
  };
}

function abilitiesOf(agent: AgentSettings): string {
  const { resumes, takesMessages, takesMcpServers, tells } = capabilitiesOf(agent);
  const abilities = [
    resumes && "resumes sessions",
    takesMcpServers && "gets our tools",
    takesMessages && "takes messages while it runs",
    tells !== "nothing" && `tells its ${tells}`,
  ];
  return abilities.filter((ability) => ability !== false).join(", ");
}

/** How people would be told of what happens; with `sends`, they are told something now. */
async function notifyFindings(
  config: Config,
  project: Project,
  context: CliContext,
  sends: boolean,
): Promise<readonly Finding[]> {
  const notify = resolveNotify(config);
  const { env, version } = context;
  const channels = channelsOf({ project, commands: { agents: [], gates: [], notify }, env, version });
  if (channels.length === 0) return [nobody(sends)];
  if (sends) return Promise.all(channels.map(tried));
  return channels.map((channel) => ({
    ...about(channel.name, notify, project, env),
    name: nameOf(channel),
  }));
}

function nameOf({ name }: Channel): string {
  return `notify ${name}`;
}

function nobody(isWanted: boolean): Finding {
  return {
    name: "notify",
    well: !isWanted,
    found: "nobody is told of anything: none of webhook, desktop and command is configured",
    advice: "configure one under [notify] in .ralph/ralph.toml",
  };
}

async function tried(channel: Channel): Promise<Finding> {
  const at = Date.now();
  const notice: Notice = {
    id: `test-${at}`,
    position: 0,
    kind: "test",
    at,
    run: null,
    task: null,
    text: "this is a test: notices of ralph arrive here",
    command: null,
    event: null,
  };
  const delivery = await channel.send(notice, new AbortController().signal);
  const well = delivery.is === "delivered";
  return {
    name: nameOf(channel),
    well,
    found: well ? `a test notice was sent to ${channel.shown}` : `${channel.shown}: ${delivery.why}`,
    advice: "see [notify] in .ralph/ralph.toml",
  };
}

type About = Omit<Finding, "name">;

function about(name: ChannelName, notify: NotifySettings, { root }: Project, env: NodeJS.ProcessEnv): About {
  switch (name) {
    case "webhook": {
      const { url = "", format = "json", secret = null } = notify.webhook ?? {};
      const signed = secret === null ? "not signed" : "signed";
      return well(`${new URL(url).host} gets ${format}, ${signed}; try it: ralph doctor --notify`);
    }
    case "desktop": {
      const program = desktopProgram();
      const isThere = findProgram(program, root, env) !== null;
      return isThere ? well(program) : ill(`${program} is not installed`, `install ${program}`);
    }
    case "command": {
      const program = (notify.command ?? "").trim().split(/\s+/)[0] ?? "";
      const isThere = /[=$(`"']/.test(program) || findProgram(program, root, env) !== null;
      return isThere
        ? well("is run for each notice")
        : ill(`${program} is not installed`, `install ${program}`);
    }
    default:
      return well("is told by its plugin");
  }
}

function well(found: string): About {
  return { well: true, found, advice: null };
}

function ill(found: string, advice: string): About {
  return { well: false, found, advice };
}
