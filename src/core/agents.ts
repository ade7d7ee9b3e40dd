import type { AgentSettings } from "./settings.ts";

/** Agent programs that we know how to start, and whose streams we read. */
export const KNOWN_PROGRAMS = ["claude", "codex", "gemini", "opencode", "copilot"] as const;

export type ProgramFormat = (typeof KNOWN_PROGRAMS)[number];

export function isProgramFormat(name: string): name is ProgramFormat {
  return (KNOWN_PROGRAMS as readonly string[]).includes(name);
}

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

/** One hook of ours, as an agent's settings have it. */
export interface WantedHook {
  /** Such as `Stop`. */
  readonly event: string;
  /** What is added to the event's list. */
  readonly entry: HookEntry;
}

interface HookEntry {
  readonly matcher?: string;
  readonly hooks: readonly HookCall[];
}

interface HookCall {
  readonly command: string;
  readonly [more: string]: unknown;
}

/** All of ours for Claude Code; `ralph` is how a shell calls us. */
export function claudeHooks(ralph: string): readonly WantedHook[] {
  const call = (hook: string): HookCall => ({ type: "command", command: `${ralph} hook ${hook}` });
  return [
    { event: "Stop", entry: { hooks: [call("stop")] } },
    { event: "PostToolUse", entry: { matcher: "*", hooks: [call("post-tool-use")] } },
  ];
}

/** Whether a command calls the same hook as ours, wherever ralph lies. */
export function callsSameHook(command: string, ours: string): boolean {
  const hook = /hook [\w-]+$/.exec(ours)?.[0] ?? ours;
  const call = /(?:^|[\s"'/])ralph["']? +(hook [\w-]+)/.exec(command)?.[1];
  return command === ours || call === hook;
}

/** A text that a shell takes for one word. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What of its operator's an agent needs to do its work, where it sees nothing else. */
export interface Belongings {
  readonly folders: readonly OwnFolder[];
  /** Further files and folders, which it cannot change. */
  readonly shows: readonly string[];
  /** Variables that are meant for it. */
  readonly variables: RegExp;
}

/** A folder that an agent keeps things in, and what of the operator's it needs there. The rest it does not see. */
export interface OwnFolder {
  readonly path: string;
  /** Names of files and folders in it that are shown as they are, and cannot be changed. */
  readonly shows: readonly string[];
  /** Names of files that it writes to: it has a copy, made anew when the operator's is newer. */
  readonly copies: readonly string[];
}

export const NO_BELONGINGS: Belongings = { folders: [], shows: [], variables: /^$/ };
