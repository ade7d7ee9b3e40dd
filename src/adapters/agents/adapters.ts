import { join } from "node:path";
import { isProgramFormat, KNOWN_PROGRAMS, PLAIN, type ProgramFormat } from "../../core/agents.ts";
import type { AgentFormat, AgentSettings } from "../../core/settings.ts";
import { acpAdapter } from "./acp/acp-client.ts";
import type { AgentAdapter, Capabilities } from "./agent-adapter.ts";
import { demoAdapter, linesAdapter, textAdapter } from "./text-adapter.ts";
import { claudeProgram } from "./programs/claude-program.ts";
import { codexProgram } from "./programs/codex-program.ts";
import { copilotProgram } from "./programs/copilot-program.ts";
import { geminiProgram } from "./programs/gemini-program.ts";
import { opencodeProgram } from "./programs/opencode-program.ts";
import { streamAdapter } from "./stream-reader.ts";

/** Programs whose command line we know. */
const PROGRAMS: Readonly<Record<ProgramFormat, AgentAdapter>> = {
  claude: claudeProgram,
  codex: codexProgram,
  gemini: geminiProgram,
  opencode: opencodeProgram,
  copilot: copilotProgram,
};

/** Commands of the operator's own, by what they speak if it is no program's stream. */
const COMMANDS: Readonly<Record<Exclude<AgentFormat, ProgramFormat>, AgentAdapter>> = {
  text: textAdapter,
  demo: demoAdapter,
  acp: acpAdapter,
};

export function adapterFor({ command, format, lines }: AgentSettings): AgentAdapter {
  if (lines !== undefined) return linesAdapter(lines);
  if (!isProgramFormat(format)) return COMMANDS[format];
  if (command === null) return PROGRAMS[format];
  // A wrapper around a known agent, say: it takes its prompt as text and speaks that one's stream.
  const { createReader, belongings, can } = streamAdapter(format);
  return { ...textAdapter, createReader, belongings, can: { ...textAdapter.can, tells: can.tells } };
}

export function capabilitiesOf(agent: AgentSettings): Capabilities {
  return adapterFor(agent).can;
}

export function sandboxesItself(agent: AgentSettings): boolean {
  return adapterFor(agent).sandboxesItself?.(agent) ?? false;
}

/** Agents that need no configuration: the programs that we know, and the demo agent that comes with us. */
export function builtInAgents(ownRoot: string): readonly AgentSettings[] {
  const demo = [process.execPath, join(ownRoot, "dist", "demo-agent.js")];
  return [
    ...KNOWN_PROGRAMS.map((name) => ({ ...PLAIN, name, format: name, command: null })),
    { ...PLAIN, name: "demo", format: "demo", command: demo },
  ];
}
