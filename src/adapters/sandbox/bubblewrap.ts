import { findProgram } from "../process/process-table.ts";
import { entriesIn } from "../process/look-at.ts";
import { NO_BELONGINGS } from "../../core/agents.ts";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { RalphError } from "../../core/errors.ts";
import {
  type AllowedHost,
  isLoopback,
  readAllowedHost,
  writeTarget,
} from "../../core/network/allowed-hosts.ts";
import type { AgentStart, AgentStartInside } from "../process/agent-sandbox.ts";
import {
  arrange,
  findOutside,
  holdPlaces,
  homeOf,
  insideEnvironment,
  isInside,
  makeFolder,
  ownPlaces,
  type Place,
  type Sandbox,
  type SandboxOptions,
  shown,
  systemPlaces,
  tryProgram,
  withoutProxies,
} from "./sandbox.ts";

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
    const bwrap = bwrapIn(env, workspace);
    const release = holdPlaces(options, workspace);
    try {
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
      const started =
        typeof network === "object"
          ? await withListedNetwork(network, inside, start, options.bridge)
          : inside;
      const close = async (): Promise<string | null> => {
        release();
        return "close" in started ? started.close() : null;
      };
      return {
        ...started,
        command: [bwrap, ...bubblewrapArguments(view), ...started.command],
        onlyHolds: true,
        close,
      };
    } catch (error) {
      release();
      throw error;
    }
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

/** Throws when bubblewrap cannot be used on this machine, or not with this bridge to a list of hosts. */
export async function requireBubblewrap(
  cwd: string,
  env: NodeJS.ProcessEnv,
  bridge: readonly string[] | null = null,
): Promise<void> {
  const places = arrange([...systemPlaces(), ...(bridge ?? []).map((path) => shown(dirname(path)))]);
  const network = bridge === null ? "on" : "off";
  const start = bridge === null ? [] : bridgeCommand(bridge, "/", []);
  const view = bubblewrapArguments({ places, cwd: "/", network, user: null });
  const command = [bwrapIn(env, cwd), ...view, ...start, "/bin/sh", "-c", ":"];
  const complaint = await tryProgram(command, { cwd, env });
  if (complaint !== null) throw cannot(complaint);
}

/** For an agent that reaches a list of hosts and nobody else: started by the bridge that leads to a filter out here. */
async function withListedNetwork(
  list: readonly string[],
  inside: Pick<AgentStartInside, "command" | "env">,
  start: AgentStart,
  bridge: readonly string[],
): Promise<Pick<Required<AgentStartInside>, "command" | "env" | "close">> {
  const hosts = list.map(requireAllowedHost);
  // Loaded only here: with Node's http half of a browser comes along.
  const { filterNetwork } = await import("./network-filter.ts");
  const { socket, close } = await filterNetwork(hosts, start);
  const command = [...bridgeCommand(bridge, socket, hosts), ...inside.command];
  return { command, env: withoutProxies(inside.env), close };
}

function requireAllowedHost(text: string): AllowedHost {
  const entry = readAllowedHost(text);
  if (typeof entry !== "string") return entry;
  throw new RalphError("config", `"sandbox.network" has ${text}: ${entry}`);
}

/** What starts a command in the sandbox with a way to the filter. */
function bridgeCommand(
  bridge: readonly string[],
  socket: string,
  hosts: readonly AllowedHost[],
): readonly string[] {
  const ports = hosts.flatMap(({ host, port }) =>
    port !== null && isLoopback(host) ? [writeTarget({ host, port })] : [],
  );
  return [...bridge, JSON.stringify({ socket, ports: [...new Set(ports)] })];
}

function bwrapIn(env: NodeJS.ProcessEnv, cwd: string): string {
  if (process.platform !== "linux")
    throw new RalphError("no-sandbox", "the sandbox bubblewrap is there on Linux only", {
      hint: "take docker (--sandbox docker), or run without: --no-sandbox",
    });
  const found = findOutside("bwrap", cwd, env);
  if (found !== null) return found;
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
    { hint: "run ralph as that user, or without: --no-sandbox" },
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

export interface View {
  /** As `arrange` orders them. */
  readonly places: readonly Place[];
  readonly cwd: string;
  readonly network: "on" | "off";
  /** Null: the same as outside. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

/** What goes between `bwrap` and the command that it is to start. */
export function bubblewrapArguments({ places, cwd, network, user }: View): readonly string[] {
  return [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(network === "off" ? ["--unshare-net"] : []),
    ...(user === null ? [] : ["--uid", String(user.uid), "--gid", String(user.gid)]),
    // Nothing survives us, and nothing survives the agent: the last process of the namespace takes all others along.
    "--die-with-parent",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...places.flatMap(argumentsFor),
    // Folders in memory, and the one that holds all together; by now everything has its place in them.
    ...["/", ...places.filter(({ is }) => is === "empty").map(({ path }) => path)].flatMap((path) => [
      "--remount-ro",
      path,
    ]),
    "--chdir",
    cwd,
    "--",
  ];
}

function argumentsFor(place: Place): readonly string[] {
  switch (place.is) {
    case "shown":
      return ["--ro-bind", place.from, place.path];
    case "writable":
      return ["--bind", place.from, place.path];
    case "link":
      return ["--symlink", place.to, place.path];
    case "empty":
      return ["--tmpfs", place.path];
    case "hidden":
      return ["--ro-bind", "/dev/null", place.path];
    case "temporary":
      return ["--perms", "1777", "--tmpfs", place.path];
  }
}

/** Files below a folder that are not for everybody: root in a sandbox still owns what root owns. */
export function closedFiles(folder: string, depth = Infinity): readonly Place[] {
  const places: Place[] = [];
  for (const entry of entriesIn(folder)) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) continue;
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if (!entry.isDirectory()) {
      if ((mode & 0o004) === 0) places.push({ is: "hidden", path });
    } else if ((mode & 0o005) === 0o005) places.push(...(depth > 1 ? closedFiles(path, depth - 1) : []));
    else places.push({ is: "empty", path });
  }
  return places;
}

interface Installation {
  /** The file itself, whatever links lead to it. */
  readonly program: string;
  /** What must be there for it to run, besides the system's own folders. */
  readonly places: readonly string[];
}

/** Where a program lies that was found under this path. */
export function installationOf(found: string, home: string): Installation {
  const program = realpathSync(found);
  // The folder that it was found in has its interpreter, where that was installed the same way.
  return {
    program,
    places: [dirname(found), rootOf(program)].map((path) => (isWide(path, home) ? program : path)),
  };
}

/** What a script is run by, as its first line says; null for other programs. */
export function interpreterOf(program: string): string | null {
  const [, first = "", second] = /^#! *(\S+)(?: +(?:-S +)?(\S+))?/.exec(firstBytes(program)) ?? [];
  return (first.endsWith("/env") ? second : first) || null;
}

function firstBytes(path: string): string {
  const buffer = Buffer.alloc(256);
  const file = openSync(path, "r");
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}

/** For a package of npm everything that is installed beside it. */
function rootOf(program: string): string {
  const steps = program.split(sep);
  const index = steps.indexOf("node_modules");
  return index === -1 ? dirname(program) : steps.slice(0, index + 1).join(sep);
}

/** A folder with all that the operator has, or with anybody's. */
function isWide(path: string, home: string): boolean {
  return isInside(home, path) || ["/tmp", "/var/tmp"].includes(path);
}
