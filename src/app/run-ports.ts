import { existsSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { sandboxesItself } from "../adapters/agents/adapters.ts";
import { createAgents } from "../adapters/agents/command-agents.ts";
import { createInboxFiles } from "../adapters/files/inbox-files.ts";
import { Logbook } from "../adapters/files/logbook.ts";
import { createNotes } from "../adapters/files/notes.ts";
import { deleteOldTexts } from "../adapters/files/ralph-folder.ts";
import { openRepository } from "../adapters/git/find-repository.ts";
import { textOf } from "../adapters/git/git.ts";
import type { GitWorkspace } from "../adapters/git/workspace/git-workspace.ts";
import { checkoutKey } from "../adapters/git/workspace/own-checkout.ts";
import { commandChannel } from "../adapters/notify/command-channel.ts";
import { deliveredFile } from "../adapters/notify/delivered-file.ts";
import { desktopChannel } from "../adapters/notify/desktop-channel.ts";
import { webhookChannel } from "../adapters/notify/webhook-channel.ts";
import { pluginChannel } from "../adapters/plugins/advisers.ts";
import { createGarbageCollection } from "../adapters/process/collect-garbage.ts";
import { inTurn, systemClock } from "../adapters/process/system-clock.ts";
import { createKeepAwake, type KeepAwake } from "../adapters/process/keep-awake.ts";
import { findProgram, limiting } from "../adapters/process/process-table.ts";
import { outsidePath } from "../adapters/process/safe-path.ts";
import { createBubblewrap, requireBubblewrap } from "../adapters/sandbox/bubblewrap.ts";
import { createDocker, requireDocker } from "../adapters/sandbox/docker.ts";
import { alternatesOf, isInside, type Sandbox } from "../adapters/sandbox/sandbox.ts";
import { projectId } from "../adapters/store/project-id.ts";
import { redactingSource } from "../adapters/tasks/redacting-source.ts";
import { mayHaveTelemetry, otlpSettings } from "../adapters/telemetry/otlp-settings.ts";
import type { Telemetry } from "../adapters/telemetry/telemetry.ts";
import { RalphError, withHint } from "../core/errors.ts";
import { createRedactor, withoutOwnSecrets } from "../core/redact.ts";
import type { AgentSettings, Commands, SandboxSettings } from "../core/settings.ts";
import { isOpen, type State } from "../core/state.ts";
import { PLAIN } from "../core/text.ts";
import { entryOfFact, type Level, logEntry, type LogEntry } from "../core/views/log-entry.ts";
import type { Sending } from "../core/views/notice.ts";
import { RunLines } from "../core/views/run-lines.ts";
import { Notifier } from "../engine/notify/notifier.ts";
import type { Agents, Channel, Follower, Log, Ports, Progress, TaskSource } from "../engine/ports.ts";
import { knownRedactor } from "../engine/secrets-seen.ts";
import { allGatesOf } from "./gates.ts";
import { parallelWorkOf, stateHomeOf, workspaceOf, workspacesBeside } from "./git-parts.ts";
import type { Plugins } from "./plugins.ts";
import { OWN_ROOT, type Project, secretsOf } from "./project.ts";

export interface RunParts extends AgentParts {
  /** How worktrees are made ready. */
  readonly worktree: { readonly setup: string; readonly include: readonly string[] };
  readonly log: Log;
  readonly commands: Commands;
  readonly source: TaskSource;
  readonly plugins?: Plugins;
  readonly followers: readonly Follower[];
}

interface AgentParts {
  readonly project: Project;
  /** What the files of each agent begin with in `logs/`; iterations without it. */
  readonly transcripts?: string;
  readonly onProgress: (progress: Progress) => void;
  /** Called as soon as an agent runs. */
  readonly onAgentStart: () => void;
  /** What the agent prints, as it comes, without secrets. */
  readonly onOutput?: ((text: string, iteration: number) => void) | undefined;
  /** Known secrets besides those in the environment. */
  readonly secrets?: readonly string[];
  /** Ours. */
  readonly version: string;
  /** Instead of this machine's clock. */
  readonly now?: () => number;
  /** What agents run in; null or absent: nothing. */
  readonly sandbox?: SandboxSettings | null;
}

/** Everything the engine needs, with the real outside behind it. */
export function composePorts(parts: RunParts): Ports {
  const { project, log, commands, source, followers, plugins } = parts;
  const { advisers } = plugins ?? {};
  const secrets = secretsOf(project, commands);
  const redact = createRedactor(secrets);
  const workspace = workspaceOf(project);
  const workspaceIn = workspacesBeside(workspace);
  return {
    log,
    commands,
    // Git removes a file before it writes it anew: reading the tasks waits until a merge has moved the checkout.
    source: redactingSource(source, redact, (look) => inTurn(checkoutKey(project.root), look)),
    agents: agentsOf({ ...parts, secrets, sandbox: commands.sandbox ?? null }, workspaceIn),
    workspace,
    parallel: parallelWorkOf(project, { ...parts.worktree, redact }, workspaceIn),
    gates: allGatesOf(project, redact, plugins, commands.gatesParallel),
    plugins: plugins?.names ?? [],
    ...(advisers && { advisers }),
    inboxFiles: createInboxFiles(project.ralphDir),
    notes: createNotes(project.ralphDir, project.root),
    clock: systemClock,
    followers,
  };
}

export function agentsOf(
  { project, sandbox: kind, onProgress, onAgentStart, ...given }: AgentParts,
  workspaceIn: (root: string | undefined) => GitWorkspace,
): Agents {
  const sandbox = sandboxOf(project, kind);
  const collectGarbage = createGarbageCollection();
  const { onOutput, transcripts, now, secrets, version } = given;
  return createAgents({
    cwd: project.root,
    gitDir: dirname(project.stateFolder),
    ralphDir: project.ralphDir,
    // The environment of a process is slow to read, and each iteration reads all of it.
    baseEnv: withoutOwnSecrets(project.env),
    ownRoot: OWN_ROOT,
    version,
    ownProgram: [process.execPath, join(OWN_ROOT, "bin", "start.cjs")],
    onProgress,
    onStart: () => {
      onAgentStart();
      collectGarbage();
    },
    workTree: (root) => workspaceIn(root).fingerprint(),
    ...(sandbox && { sandbox }),
    ...(now && { now }),
    ...(secrets && { secrets }),
    ...(onOutput && { onOutput }),
    ...(transcripts !== undefined && { transcripts }),
  });
}

/** For as long as a run needs the machine. */
export function keepAwakeOf({ env }: Pick<Project, "env">): KeepAwake {
  return createKeepAwake({ path: outsidePath(env["PATH"] ?? "", OWN_ROOT), env: withoutOwnSecrets(env) });
}

/** How this very program is called from a shell. */
export function ownCommand(cwd: string, env: NodeJS.ProcessEnv): string {
  return findProgram("ralph", cwd, env) === null ? join(OWN_ROOT, "bin", "ralph") : "ralph";
}

interface FollowedRun {
  readonly project: Project;
  readonly log: Log;
  readonly commands: Commands;
  readonly plugins: Plugins;
  /** How many days transcripts and prompts are kept; 0: for ever. */
  readonly keepDays: number;
  readonly version: string;
  readonly verbose: boolean;
  /** Who this is, of several that share the run. */
  readonly worker?: string;
  /** To the person in front of it. */
  readonly say: (text: string) => void;
}

/** What hears of a run besides the screens: the logbook, people elsewhere, and a receiver of telemetry. None can hold it up. */
export interface RunFollowers {
  readonly followers: readonly Follower[];
  /** When the state is known, and nothing of this process is recorded yet. */
  readonly start: (state: State) => Promise<void>;
}

interface Told extends FollowedRun {
  readonly warn: (text: string) => void;
  readonly note: (text: string) => void;
}

/** Tells others of a run as long as the work takes, and then waits a bounded time for what is still to be sent. */
export async function followRun<Result>(
  run: FollowedRun,
  work: (others: RunFollowers) => Promise<Result>,
): Promise<Result> {
  const { project, version, verbose, say, keepDays } = run;
  const logbook = new Logbook(project.ralphDir, {
    onTrouble: (why) => say(`what happens cannot be written to ralph.log: ${why}`),
  });
  const keep = (level: Level, text: string): void => logbook.write(logEntry(level, text, Date.now()));
  const warn = (text: string): void => {
    keep("warn", text);
    say(text);
  };
  const note = (text: string): void => {
    keep("debug", text);
    if (verbose) say(text);
  };
  const told = { ...run, warn, note };
  const notifier = notifierOf(told);
  const telemetry = await telemetryOf(told);
  try {
    return await work({
      followers: [
        logbookFollower((entries) => logbook.write(...entries)),
        notifier,
        ...(telemetry === null ? [] : [telemetry]),
      ],
      async start(state) {
        keep("info", `ralph ${version} begins, in ${project.root}`);
        // Never those of a run that goes on.
        const before = Math.min(
          Date.now() - keepDays * DAY_MS,
          isOpen(state.run) ? state.run.startedAt : Infinity,
        );
        const deleted = keepDays === 0 ? 0 : deleteOldTexts(project.ralphDir, before);
        if (deleted > 0) note(`${deleted} transcripts and prompts were older than ${keepDays} days: deleted`);
        await notifier.start(state);
      },
    });
  } catch (error) {
    // What ended the run, and is no fact.
    keep("error", knownRedactor(project.env)(error instanceof Error ? error.message : String(error)));
    throw error;
  } finally {
    await Promise.all([notifier.finish(), telemetry?.finish()]);
  }
}

const DAY_MS = 24 * 3_600_000;

/** Every fact in words; those that came together are written together. */
function logbookFollower(write: (entries: readonly LogEntry[]) => void): Follower {
  const told = new RunLines(PLAIN);
  let entries: LogEntry[] = [];
  return {
    follow(event, state) {
      entries.push(entryOfFact(event, told.of(event, state)));
      return Promise.resolve();
    },
    settle() {
      write(entries);
      entries = [];
      return Promise.resolve();
    },
  };
}

/** Every way to reach a person that is configured. */
export function channelsOf({
  project,
  commands,
  version,
  plugins,
}: Pick<FollowedRun, "project" | "commands" | "version"> & Partial<FollowedRun>): readonly Channel[] {
  const { notify } = commands;
  if (notify === undefined) return [];
  const { root, env } = project;
  const name = basename(root);
  const sending = (): Sending => ({ project: name, host: hostname(), now: Date.now() });
  const redact = createRedactor(secretsOf(project, commands));
  const outside = { cwd: root, env: withoutOwnSecrets(env) };
  const { webhook, desktop, command } = notify;
  return [
    ...(webhook === null ? [] : [webhookChannel({ ...webhook, version, sending })]),
    ...(desktop ? [desktopChannel({ ...outside, project: name })] : []),
    ...(command === null
      ? []
      : [commandChannel({ ...outside, command, redact, ownRoot: OWN_ROOT, sending })]),
    ...(plugins?.notifiers ?? []).map((notifier) => pluginChannel(notifier, sending)),
  ];
}

function notifierOf(run: Told): Notifier {
  const { project, commands } = run;
  return new Notifier({
    ...run,
    channels: channelsOf(run),
    kinds: commands.notify?.on ?? [],
    delivered: deliveredFile(
      join(project.stateFolder, "notified.json"),
      project.queue === null ? project.stateFile : "the queue",
    ),
    clock: systemClock,
  });
}

/** Loaded only when somebody wants it. Variables that make no sense are no reason not to work. */
async function telemetryOf({ project, commands, ...run }: Told): Promise<Telemetry | null> {
  const { env, root } = project;
  if (!mayHaveTelemetry(env)) return null;
  try {
    const settings = otlpSettings(env);
    const { Telemetry } = await import("../adapters/telemetry/telemetry.ts");
    const { providersOf } = await import("../adapters/telemetry/otlp.ts");
    return new Telemetry({
      ...run,
      settings,
      resource: {
        "service.version": run.version,
        "host.name": hostname(),
        "process.pid": process.pid,
        "ralph.project": basename(root),
      },
      providerOf: providersOf(commands.agents),
    });
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    run.warn(`no telemetry is sent: ${withHint(error)}`);
    return null;
  }
}

const BRIDGE = [process.execPath, join(OWN_ROOT, "dist", "sandbox-bridge.js")];

/** What agents of the project run in; null: nothing. */
export function sandboxOf(project: Project, settings: SandboxSettings | null | undefined): Sandbox | null {
  if (settings == null) return null;
  const { stateFolder, stateFile, ralphDir, env } = project;
  const options = {
    settings,
    gitDir: dirname(stateFolder),
    alternates: alternatesOf(dirname(stateFolder)),
    ralphDir,
    stateFile,
    // What agents start of ours: tools and hooks.
    ownPlaces: [
      process.execPath,
      ...["bin", "dist", "node_modules", "package.json"].map((name) => join(OWN_ROOT, name)),
    ],
    homes: join(stateHomeOf(env), "ralph", "sandbox", projectId(stateFolder)),
    bridge: BRIDGE,
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  };
  return settings.kind === "bubblewrap" ? createBubblewrap(options) : createDocker(options, env);
}

/** Throws when agents are to run in a sandbox that cannot be made: none of them runs without it. */
export async function requireSandbox(
  project: Project,
  settings: SandboxSettings | null | undefined,
  agents: readonly AgentSettings[],
  hooks = false,
): Promise<void> {
  if (settings == null) return;
  for (const agent of agents) requireOneSandbox(agent);
  if (hooks) await requireHooksApart(project.root);
  const { root, env } = project;
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  await sandboxOf(project, settings)?.requireUsable(root, Object.fromEntries(defined));
}

/** Hooks run outside, with the rights of the operator. */
async function requireHooksApart(root: string): Promise<void> {
  const { git, commonDir } = await openRepository(root);
  const { stdout } = await git.run(["rev-parse", "--git-path", "hooks"], { hooks: true });
  const path = resolve(root, textOf(stdout.trimEnd()));
  const real = existsSync(path) ? realpathSync(path) : path;
  if (!isInside(real, root) || isInside(real, commonDir)) return;
  throw new RalphError(
    "config",
    `git.hooks is true, and an agent in the sandbox can change the hooks in ${path}, which Ralph would run outside of it`,
    { hint: "set git.hooks = false, or run without: --no-sandbox" },
  );
}

/** Warns where a process of an agent or a gate could get away. */
export function warnOfDaemons({ say }: Project): void {
  if (limiting("") === null)
    say(
      "A process that starts its own session and clears its environment can survive an iteration here: " +
        "finding it takes Linux and prlimit (util-linux).",
    );
}

function requireOneSandbox(agent: AgentSettings): void {
  if (!sandboxesItself(agent)) return;
  throw new RalphError(
    "config",
    `with permission_mode = "${agent.permissions}" the agent "${agent.name}" makes a sandbox of its own, and that cannot be done inside of another`,
    { hint: 'take permission_mode = "full" for it: what is around it holds; or run without: --no-sandbox' },
  );
}

/** Why each kind of sandbox, and a list of hosts in one, cannot be had on this machine; null where it can. */
export async function sandboxTroubles(
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Readonly<Record<SandboxSettings["kind"] | "hosts", RalphError | null>>> {
  const [bubblewrap, hosts, docker] = await Promise.all([
    troubleOf(requireBubblewrap(cwd, env)),
    troubleOf(requireBubblewrap(cwd, env, BRIDGE)),
    troubleOf(requireDocker(cwd, env)),
  ]);
  return { bubblewrap, hosts, docker };
}

async function troubleOf(check: Promise<void>): Promise<RalphError | null> {
  try {
    await check;
    return null;
  } catch (error) {
    if (error instanceof RalphError) return error;
    throw error;
  }
}
