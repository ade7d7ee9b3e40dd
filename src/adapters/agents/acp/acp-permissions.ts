import { fieldsOf, listOf, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import type { Permissions } from "../../../core/settings.ts";

export interface Permitting {
  readonly permissions: Permissions;
  /** The names of our own servers: whatever the agent may do, it may talk to us. */
  readonly servers: readonly string[];
}

/** What changing files needs. Nobody watches, so commands, the network and tools of others are not part of it. */
const EDITS: readonly unknown[] = ["read", "search", "think", "edit", "delete", "move"];

/**
 * Answers an agent that asks whether it may use a tool. Only for this once: some agents write a lasting permission
 * into the repository.
 */
export function answerPermission(params: Fields, permitting: Permitting): object {
  const options = listOf(params["options"]).map(fieldsOf);
  const isAllowed = isPermitted(fieldsOf(params["toolCall"]), permitting);
  const wishes = isAllowed ? ["allow_once", "reject_once"] : ["reject_once", "reject_always"];
  for (const wish of wishes) {
    const optionId = textOf(options.find(({ kind }) => kind === wish)?.["optionId"]);
    if (optionId !== null) return { outcome: { outcome: "selected", optionId } };
  }
  return { outcome: { outcome: "cancelled" } };
}

function isPermitted(call: Fields, { permissions, servers }: Permitting): boolean {
  if (servers.some((server) => isToolOf(server, call))) return true;
  switch (permissions) {
    case "full":
      return true;
    case "edits":
      return EDITS.includes(call["kind"]);
    // Its own settings have decided what it may do; what it asks for nevertheless needs a person.
    case "own":
      return false;
  }
}

/** Agents name a tool of a server `mcp__server__tool`, `mcp_server_tool`, `server_tool` or `tool (server MCP Server)`. */
function isToolOf(server: string, { kind, name, title, toolCallId }: Fields): boolean {
  if (kind !== undefined && kind !== null && kind !== "other") return false;
  const prefixes = ["mcp__", "mcp_", "mcp.", ""].map((prefix) => `${prefix}${server}`);
  const names = [name, title, toolCallId].map((text) => textOf(text) ?? "");
  return names.some(
    (text) =>
      prefixes.some((prefix) => text.startsWith(prefix) && /^[_.-]/.test(text.slice(prefix.length))) ||
      text.endsWith(` (${server} MCP Server)`),
  );
}
