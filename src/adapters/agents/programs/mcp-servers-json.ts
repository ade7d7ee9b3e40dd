import type { McpServer } from "../agent-adapter.ts";

/** Servers in the form that most agents read. */
export function mcpServersJson(
  servers: readonly McpServer[],
  more: Readonly<Record<string, unknown>> = {},
): string {
  const entries = servers.map(({ name, command, args, env }) => [name, { ...more, command, args, env }]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) as unknown });
}
