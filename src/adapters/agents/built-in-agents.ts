import { PLAIN, KNOWN_PROGRAMS } from "../../core/agents.ts";
import { join } from "node:path";
import type { AgentSettings } from "../../core/settings.ts";

/** Agents that need no configuration: the programs that we know, and the demo agent that comes with us. */
export function builtInAgents(ownRoot: string): readonly AgentSettings[] {
  const demo = [process.execPath, join(ownRoot, "dist", "demo-agent.js")];
  return [
    ...KNOWN_PROGRAMS.map((name) => ({ ...PLAIN, name, format: name, command: null })),
    { ...PLAIN, name: "demo", format: "demo", command: demo },
  ];
}
