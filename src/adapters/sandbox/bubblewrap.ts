import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { NO_BELONGINGS } from "../../core/belongings.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { AgentStart } from "../system/agent-sandbox.ts";
import { findProgram } from "../system/find-program.ts";
import { hasNamespaces } from "../system/platform/platform-facts.ts";
import { THIS_PLATFORM } from "../system/platform/this-platform.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { closedFiles } from "./closed-files.ts";
import { findOutside } from "./find-outside.ts";
import { insideEnvironment } from "./inside-environment.ts";
import { installationOf, interpreterOf } from "./installation.ts";
import { bridgeCommand, withListedNetwork } from "./listed-network.ts";
import { systemPlaces } from "./places-inside.ts";
import { arrange, isInside, shown, type Place } from "./place.ts";
import { makeFolder } from "./private-home.ts";
import { homeOf, ownPlaces, type Sandbox, type SandboxOptions } from "./sandbox.ts";
import { tryProgram } from "./try-program.ts";

/** Who root is inside, since many agents refuse to work for root. What it makes there is root's outside. */
const INSTEAD_OF_ROOT = { uid: 1000, gid: 1000 };

/** Agents in a view of this machine that is made for them: nothing is copied, and they start as fast as ever. */
export function createBubblewrap(options: SandboxOptions): Sandbox {
  const isRoot = options.user.uid === 0;
  let system: readonly Place[] | null = null;
  const machine = (home: string): readonly Place[] =>
    (system ??= [...systemPlaces(), ...(isRoot ? rootPlaces(options.homes, home) : [])]);
  const around = async (start: AgentStart): ReturnType<Sandbox["around"]> => {
    const { command, env, workspace, belongings } = start;
    const { network } = options.settings;
    const home = homeOf(env, workspace);
    // Git would make it at the first use, and then it would be the agent's.
    mkdirSync(join(options.gitDir, "hooks"), { recursive: true });
    const { program, places } = installed(command[0] ?? "", start, home);
    const view = {
      places: arrange([...machine(home), ...places, ...ownPlaces(options, start)]),
      cwd: workspace,
      network: network === "on" ? ("on" as const) : ("off" as const),
      user: isRoot ? INSTEAD_OF_ROOT : null,
    };
    const named = [...options.settings.env, ...start.given];
    const inside = {
      command: [program, ...command.slice(1)],
      env: insideEnvironment({ env, own: belongings.variables, named }),
    };
    const bwrap = [bwrapIn(env, workspace), ...bubblewrapArguments(view)];
    const started =
      typeof network === "object" ? await withListedNetwork(network, inside, start, options.bridge) : inside;
    return { ...started, command: [...bwrap, ...started.command], onlyHolds: true };
  };
  return {
    hasOwnPrograms: false,
    around,
    async requireUsable(workspace, env) {
      requireOwnWorkspace(workspace, options.user.uid);
      const folder = mkdtempSync(join(tmpdir(), "ralph-sandbox-"));
      try {
        const { command, close, ...inside } = await around(emptyStart(workspace, folder, env));
        const complaint = await tryProgram(command, { cwd: workspace, env: inside.env });
        await close?.();
        if (complaint !== null) throw cannot(complaint);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Why bubblewrap cannot be used on this machine, or not with this bridge to a list of hosts; null when it can. */
export async function bubblewrapTrouble(
  cwd: string,
  env: NodeJS.ProcessEnv,
  bridge: readonly string[] | null = null,
): Promise<RalphError | null> {
  try {
    const places = arrange([...systemPlaces(), ...(bridge ?? []).map((path) => shown(dirname(path)))]);
    const network = bridge === null ? "on" : "off";
    const start = bridge === null ? [] : bridgeCommand(bridge, "/", []);
    const view = bubblewrapArguments({ places, cwd: "/", network, user: null });
    const command = [bwrapIn(env, cwd), ...view, ...start, "/bin/sh", "-c", ":"];
    const complaint = await tryProgram(command, { cwd, env });
    return complaint === null ? null : cannot(complaint);
  } catch (error) {
    if (error instanceof RalphError) return error;
    throw error;
  }
}

function bwrapIn(env: NodeJS.ProcessEnv, cwd: string): string {
  const isPossible = hasNamespaces(THIS_PLATFORM);
  const found = isPossible ? findOutside("bwrap", cwd, env) : null;
  if (found !== null) return found;
  if (!isPossible)
    throw new RalphError("no-sandbox", "the sandbox bubblewrap is there on Linux only", {
      hint: "take docker (--sandbox docker), or run without: --no-sandbox",
    });
  throw new RalphError("no-sandbox", "the sandbox needs the program bwrap, which is not installed", {
    hint: "install the package bubblewrap (apt-get install bubblewrap), or run without: --no-sandbox",
  });
}

function cannot(complaint: string): RalphError {
  return new RalphError("no-sandbox", `bubblewrap cannot make a sandbox here: ${complaint}`, {
    hint: "allow user namespaces (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns, user.max_user_namespaces), or run without: --no-sandbox",
  });
}

/** Inside, root has no power over what is somebody else's. */
function requireOwnWorkspace(workspace: string, uid: number): void {
  const owner = statSync(workspace).uid;
  if (uid !== 0 || owner === 0) return;
  throw new RalphError(
    "no-sandbox",
    `${workspace} belongs to the user ${owner}, and in a sandbox root cannot write there`,
    {
      hint: "run ralph as that user, or without: --no-sandbox",
    },
  );
}

function installed(
  name: string,
  { env, workspace }: AgentStart,
  home: string,
): { readonly program: string; readonly places: readonly Place[] } {
  const found = findProgram(name, workspace, env);
  // Then it says so itself.
  if (found === null) return { program: name, places: [] };
  const { program, places } = installationOf(found, home);
  const interpreter = findProgram(interpreterOf(program) ?? "", workspace, env);
  const all = [...places, ...(interpreter === null ? [] : installationOf(interpreter, home).places)];
  const outside = all.filter((path) => !isInside(path, workspace)).map(shown);
  return { program: isInside(found, workspace) ? found : program, places: outside };
}

/** Files of the kernel that it lets root write to, whatever root is called inside; some make it start programs. */
const KERNEL = ["sys", "sysrq-trigger", "bus", "fs", "irq", "acpi", "scsi", "mtrr"].map(
  (name) => `/proc/${name}`,
);

/** What anybody may read of the machine's settings, and a name for whom the agent runs as. */
function rootPlaces(homes: string, home: string): readonly Place[] {
  makeFolder(homes);
  const { uid, gid } = INSTEAD_OF_ROOT;
  const files = {
    passwd: `agent:x:${uid}:${gid}:agent:${home}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`,
    group: `agent:x:${gid}:\nnogroup:x:65534:\n`,
  };
  const named = Object.entries(files).map(([name, text]): Place => {
    const from = join(homes, name);
    writeFileSync(from, text);
    return { is: "shown", path: `/etc/${name}`, from };
  });
  const closed = [...closedFiles("/etc"), ...closedFiles("/usr/local/etc"), ...closedFiles("/opt", 2)];
  return [...closed, ...named, ...KERNEL.filter((path) => existsSync(path)).map(shown)];
}

function emptyStart(workspace: string, folder: string, env: Readonly<Record<string, string>>): AgentStart {
  return {
    agent: "nobody",
    command: ["/bin/sh", "-c", ":"],
    env,
    given: [],
    workspace,
    folder,
    promptFile: null,
    marker: "",
    belongings: NO_BELONGINGS,
  };
}
