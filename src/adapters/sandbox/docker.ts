import { dirname } from "node:path";
import { RalphError } from "../../core/errors.ts";
import {
  arrange,
  findOutside,
  holdPlaces,
  insideEnvironment,
  namesForImage,
  ownPlaces,
  type Place,
  type Sandbox,
  type SandboxOptions,
  tryProgram,
} from "./sandbox.ts";

/** Agents in a container of an image that has their program. */
export function createDocker(options: SandboxOptions, env: NodeJS.ProcessEnv): Sandbox {
  const { settings, user } = options;
  return {
    hasOwnPrograms: true,
    async around(start) {
      const given = {
        env: start.env,
        own: start.belongings.variables,
        named: [...settings.env, ...start.given],
      };
      const client = clientIn(start.workspace, start.env);
      const release = holdPlaces(options, start.workspace);
      const container = {
        image: settings.image ?? "",
        name: containerName(start.marker),
        places: arrange([
          { is: "temporary", path: "/tmp" },
          { is: "temporary", path: "/var/tmp" },
          ...ownPlaces(options, start),
        ]),
        cwd: start.workspace,
        network: settings.network === "on" ? ("on" as const) : ("off" as const),
        user,
        variables: namesForImage(given),
      };
      return {
        close() {
          release();
          return Promise.resolve(null);
        },
        command: [client, ...dockerArguments(container), ...start.command],
        // The client needs its own too: where the engine is, say.
        env: { ...start.env, ...insideEnvironment(given) },
        onlyHolds: false,
      };
    },
    async end(marker) {
      // Most often there is none any more, which is no trouble.
      const client = clientIn(dirname(options.gitDir), env);
      await tryProgram([client, ...removeArguments(containerName(marker))], { cwd: "/", env });
    },
    requireUsable: requireDocker,
  };
}

/** Throws when docker cannot be used on this machine. */
export async function requireDocker(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const command = [clientIn(cwd, env), "version", "--format", "{{.Server.Version}}"];
  const complaint = await tryProgram(command, { cwd, env });
  if (complaint === null) return;
  throw new RalphError("no-sandbox", `no docker engine answers: ${complaint}`, {
    hint: "start the engine, or say where it is (DOCKER_HOST), take bubblewrap (--sandbox bubblewrap), or run without: --no-sandbox",
  });
}

function clientIn(workspace: string, env: NodeJS.ProcessEnv): string {
  const client = findOutside("docker", workspace, env);
  if (client !== null) return client;
  throw new RalphError("no-sandbox", "the sandbox needs the program docker, which is not installed", {
    hint: "install docker, take bubblewrap (--sandbox bubblewrap), or run without: --no-sandbox",
  });
}

export interface Container {
  readonly image: string;
  /** Unique to the iteration: by it the container is found when its client is gone. */
  readonly name: string;
  /** As `arrange` orders them. */
  readonly places: readonly Place[];
  readonly cwd: string;
  readonly network: "on" | "off";
  readonly user: { readonly uid: number; readonly gid: number };
  /** Names of variables; their values stay out of the command line. */
  readonly variables: readonly string[];
}

/** What goes between `docker` and the command that it is to start. */
export function dockerArguments(container: Container): readonly string[] {
  const { image, name, places, cwd, network, user, variables } = container;
  return [
    "run",
    "--rm",
    // Reaps what the agent leaves, and hands signals on.
    "--init",
    "--interactive",
    "--name",
    name,
    "--user",
    `${user.uid}:${user.gid}`,
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
    "--read-only",
    ...(network === "off" ? ["--network", "none"] : []),
    ...places.flatMap(mountOf),
    ...variables.flatMap((variable) => ["--env", variable]),
    "--workdir",
    cwd,
    image,
  ];
}

/** So that nothing of an iteration runs on in the engine. */
export function removeArguments(name: string): readonly string[] {
  return ["rm", "--force", name];
}

export function containerName(marker: string): string {
  return `ralph-${marker}`;
}

function mountOf(place: Place): readonly string[] {
  const target = `dst=${place.path}`;
  switch (place.is) {
    case "shown":
      return ["--mount", fields("type=bind", `src=${place.from}`, target, "readonly")];
    case "writable":
      return ["--mount", fields("type=bind", `src=${place.from}`, target)];
    case "empty":
      return ["--mount", fields("type=tmpfs", target, "readonly")];
    case "hidden":
      return ["--mount", fields("type=bind", "src=/dev/null", target, "readonly")];
    case "temporary":
      return ["--mount", fields("type=tmpfs", target, "tmpfs-mode=1777")];
    // The image has its own.
    case "link":
      return [];
  }
}

/** As a line of CSV, which is how it is read. */
function fields(...all: readonly string[]): string {
  return all.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",");
}
