import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { sandboxesItself } from "../adapters/agents/adapters.ts";
import { createBubblewrap, requireBubblewrap } from "../adapters/sandbox/bubblewrap.ts";
import { createDocker, requireDocker } from "../adapters/sandbox/docker.ts";
import { alternatesOf, isInside, type Sandbox } from "../adapters/sandbox/sandbox.ts";
import { openRepository } from "../adapters/git/find-repository.ts";
import { textOf } from "../adapters/git/git.ts";
import { limiting } from "../adapters/process/process-table.ts";
import { projectId } from "../adapters/store/project-id.ts";
import { stateHomeOf } from "./git-parts.ts";
import { OWN_ROOT, type Project } from "./project.ts";
import { RalphError } from "../core/errors.ts";
import type { AgentSettings, SandboxSettings } from "../core/settings.ts";

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
