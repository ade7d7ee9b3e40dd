import { dirname, join } from "node:path";
import { createAgents } from "../adapters/agents/command-agents.ts";
import { createInboxFiles } from "../adapters/files/inbox-files.ts";
import { createNotes } from "../adapters/files/notes.ts";
import { checkoutKey } from "../adapters/git/workspace/own-checkout.ts";
import type { GitWorkspace } from "../adapters/git/workspace/git-workspace.ts";
import { createGarbageCollection } from "../adapters/process/collect-garbage.ts";
import { inTurn, systemClock } from "../adapters/process/system-clock.ts";
import { createKeepAwake, type KeepAwake } from "../adapters/process/keep-awake.ts";
import { findProgram } from "../adapters/process/process-table.ts";
import { outsidePath } from "../adapters/process/safe-path.ts";
import { redactingSource } from "../adapters/tasks/redacting-source.ts";
import { createRedactor, withoutOwnSecrets } from "../core/redact.ts";
import type { Commands, SandboxSettings } from "../core/settings.ts";
import type { Agents, Follower, Log, Ports, Progress, TaskSource } from "../engine/ports.ts";
import { allGatesOf } from "./gates.ts";
import { parallelWorkOf, workspaceOf, workspacesBeside } from "./git-parts.ts";
import type { Plugins } from "./plugins.ts";
import { OWN_ROOT, type Project, secretsOf } from "./project.ts";
import { sandboxOf } from "./sandbox.ts";

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
    gates: allGatesOf(project, redact, plugins),
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
