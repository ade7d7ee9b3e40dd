import type { AgentSettings } from "./settings.ts";

const ACP = "acp:";

/** The agent of a name. `acp:COMMAND` needs no configuration: it is the command, and it speaks the protocol. */
export function agentNamed(name: string, agents: readonly AgentSettings[]): AgentSettings | null {
  const known = agents.find((agent) => agent.name === name);
  if (known !== undefined) return known;
  const command = acpCommand(name);
  if (command === null) return null;
  // Prices are by model, and so the same for all agents.
  return { ...PLAIN, name, format: "acp", command, prices: agents[0]?.prices ?? {} };
}

/** The words after `acp:`, where quotes keep words together; null for any other name. */
export function acpCommand(name: string): readonly string[] | null {
  if (!name.startsWith(ACP)) return null;
  const line = name.slice(ACP.length);
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const isOpen = /["']/.test(line.replaceAll(/"[^"]*"|'[^']*'/g, ""));
  if (isOpen) return null;
  return words.length === 0 ? null : words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

/** The heading of an agent's section, as one would have to write it. */
export function agentSection(name: string): string {
  return `[agents.${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}]`;
}

/** An agent of which nothing is said. */
export const PLAIN: Omit<AgentSettings, "name" | "format" | "command"> = {
  model: null,
  args: [],
  session: "fresh",
  permissions: "full",
  env: {},
  envDeny: [],
  prices: {},
};
