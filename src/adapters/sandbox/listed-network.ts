import { join } from "node:path";
import {
  type AllowedHost,
  isLoopback,
  readAllowedHost,
  writeTarget,
} from "../../core/network/allowed-hosts.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { AgentStart, AgentStartInside } from "../system/agent-sandbox.ts";
import { fileError } from "../system/atomic-file.ts";
import { withoutProxies } from "./sandbox.ts";
import type { NetworkFilter } from "./network-filter.ts";
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
  const hosts = hostsOf(list);
  const socket = join(folder, "network");
  const refused = new Set<string>();
  const { path, letGo } = socketPath(socket);
  // Loaded only here: with Node's http half of a browser comes along.
  const { startNetworkFilter } = await import("./network-filter.ts");
  const filter = await listenAt(socket, () =>
    startNetworkFilter({
      socket: path,
      hosts,
      env,
      onRefused: (target) => void (refused.size < REFUSED_MAX && refused.add(writeTarget(target))),
    }),
  );
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

function hostsOf(list: readonly string[]): readonly AllowedHost[] {
  return list.map((text) => {
    const entry = readAllowedHost(text);
    if (typeof entry === "string") throw new RalphError("config", `"sandbox.network" has ${text}: ${entry}`);
    return entry;
  });
}

async function listenAt(socket: string, listen: () => Promise<NetworkFilter>): Promise<NetworkFilter> {
  try {
    return await listen();
  } catch (error) {
    throw fileError(error, socket);
  }
}

function noteOf(refused: readonly string[]): string {
  const more = refused.length > TOLD_MAX ? ` and ${refused.length - TOLD_MAX} more` : "";
  return `the agent asked for hosts that "sandbox.network" does not let it reach: ${refused.slice(0, TOLD_MAX).join(", ")}${more}`;
}
