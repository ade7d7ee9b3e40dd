import type { FoundGate, FoundGates } from "./detect-gates.ts";
import type { Detected } from "./detect-project.ts";

/** The configuration that a person starts with: what was found, and the next things they may want. */
export function configText({ agent, gates }: Detected): string {
  return `${agentText(agent)}\n${gatesText(gates)}`;
}

const WHY = "# what must pass before a task counts as done";

function gatesText({ chosen, others }: FoundGates): string {
  if (chosen.length === 0)
    return `# [[gates]]                    ${WHY}\n# name = "tests"\n# command = "npm test"\n`;
  return [...chosen.map((gate, at) => gateText(gate, at === 0)), ...others.map(otherText)].join("\n");
}

function gateText({ name, command, because }: FoundGate, isFirst: boolean): string {
  const head = isFirst ? `[[gates]]                      ${WHY}` : "[[gates]]";
  return `${head}\nname = "${name}"\ncommand = ${JSON.stringify(command)}         # found: ${because}\n`;
}

function otherText({ name, command, because }: FoundGate): string {
  return `# [[gates]]                    # also found: ${because}\n# name = "${name}-2"\n# command = ${JSON.stringify(command)}\n`;
}

function agentText(agent: Detected["agent"]): string {
  if (agent !== null) return `agent = "${agent}"               # found on this machine\n`;
  return `agent = "demo"                 # scripted, for trying things out; no agent was found on this machine
# agent = "claude"             # or codex, gemini, opencode, copilot, acp:COMMAND, or any command line:

# [agents.mine]                # reads the prompt on stdin; then: agent = "mine"
# command = ["my-agent", "--yes"]
`;
}
