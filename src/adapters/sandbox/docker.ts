import { dirname } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { containerName, dockerArguments, removeArguments } from "./docker-arguments.ts";
import { findOutside } from "./find-outside.ts";
import { insideEnvironment, namesForImage } from "./inside-environment.ts";
import { arrange } from "./place.ts";
import { ownPlaces, type Sandbox, type SandboxOptions } from "./sandbox.ts";
import { tryProgram } from "./try-program.ts";

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
        command: [clientIn(start.workspace, start.env), ...dockerArguments(container), ...start.command],
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
    async requireUsable(workspace, given) {
      const trouble = await dockerTrouble(workspace, given);
      if (trouble !== null) throw trouble;
    },
  };
}

/** Why docker cannot be used on this machine; null when it can. */
export async function dockerTrouble(cwd: string, env: NodeJS.ProcessEnv): Promise<RalphError | null> {
  try {
    const command = [clientIn(cwd, env), "version", "--format", "{{.Server.Version}}"];
    const complaint = await tryProgram(command, { cwd, env });
    if (complaint === null) return null;
    return new RalphError("no-sandbox", `no docker engine answers: ${complaint}`, {
      hint: "start the engine, or say where it is (DOCKER_HOST), take bubblewrap (--sandbox bubblewrap), or run without: --no-sandbox",
    });
  } catch (error) {
    if (error instanceof RalphError) return error;
    throw error;
  }
}

function clientIn(workspace: string, env: NodeJS.ProcessEnv): string {
  const client = findOutside("docker", workspace, env);
  if (client !== null) return client;
  throw new RalphError("no-sandbox", "the sandbox needs the program docker, which is not installed", {
    hint: "install docker, take bubblewrap (--sandbox bubblewrap), or run without: --no-sandbox",
  });
}
