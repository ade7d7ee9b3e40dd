import { join } from "node:path";
import {
  type AllowedHost,
  isLoopback,
  readAllowedHost,
  writeTarget,
} from "../../core/network/allowed-hosts.ts";
import { RalphError } from "../../core/errors.ts";
import type { AgentStart, AgentStartInside } from "../process/agent-sandbox.ts";
import { fileError } from "../process/atomic-file.ts";
import { withoutProxies } from "./sandbox.ts";
import { socketPath } from "./open-tunnel.ts";

type Inside = Pick<AgentStartInside, "command" | "env">;

const REFUSED_MAX = 1_000;
const TOLD_MAX = 10;

/**
 * For an agent that reaches a list of hosts and nobody else: a filter out here, for as long as it runs, and the agent
 * started by the bridge that leads there.
 */
export async function withListedNetwork(
  list: readonly string[],
  inside: Inside,
  { folder, env }: Pick<AgentStart, "folder" | "env">,
  bridge: readonly string[],
): Promise<Inside & Required<Pick<AgentStartInside, "close">>> {
  const hosts = list.map(requireAllowedHost);
  const socket = join(folder, "network");
  const refused = new Set<string>();
  const { path, letGo } = socketPath(socket);
  // Loaded only here: with Node's http half of a browser comes along.
  const { startNetworkFilter } = await import("./network-filter.ts");
  const filter = await startNetworkFilter({
    socket: path,
    hosts,
    env,
    onRefused: (target) => void (refused.size < REFUSED_MAX && refused.add(writeTarget(target))),
  }).catch((error: unknown) => {
    throw fileError(error, socket);
  });
  return {
    command: [...bridgeCommand(bridge, socket, hosts), ...inside.command],
    env: withoutProxies(inside.env),
    async close() {
      await filter.close();
      letGo();
      return refused.size === 0 ? null : noteOf([...refused]);
    },
  };
}

/** What starts a command in the sandbox with a way to the filter. */
export function bridgeCommand(
  bridge: readonly string[],
  socket: string,
  hosts: readonly AllowedHost[],
): readonly string[] {
  const ports = hosts.flatMap(({ host, port }) =>
    port !== null && isLoopback(host) ? [writeTarget({ host, port })] : [],
  );
  return [...bridge, JSON.stringify({ socket, ports: [...new Set(ports)] })];
}

function requireAllowedHost(text: string): AllowedHost {
  const entry = readAllowedHost(text);
  if (typeof entry !== "string") return entry;
  throw new RalphError("config", `"sandbox.network" has ${text}: ${entry}`);
}

function noteOf(refused: readonly string[]): string {
  const more = refused.length > TOLD_MAX ? ` and ${refused.length - TOLD_MAX} more` : "";
  return `the agent asked for hosts that "sandbox.network" does not let it reach: ${refused.slice(0, TOLD_MAX).join(", ")}${more}`;
}
