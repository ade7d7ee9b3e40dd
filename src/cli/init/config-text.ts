import type { Detected } from "./detect-project.ts";

/** The configuration that a person starts with: what was found, and the next things they may want. */
export function configText({ agent, tests }: Detected): string {
  const gates =
    tests === null
      ? `# [[gates]]                    # what must pass before a task counts as done\n# name = "tests"\n# command = "npm test"\n`
      : `[[gates]]                      # what must pass before a task counts as done\nname = "tests"\ncommand = "${tests.command}"         # found: ${tests.because}\n`;
  return `${agentText(agent)}\n${gates}`;
}

function agentText(agent: Detected["agent"]): string {
  if (agent !== null) return `agent = "${agent}"               # found on this machine\n`;
  return `agent = "demo"                 # scripted, for trying things out; no agent was found on this machine
# agent = "claude"             # or codex, gemini, opencode, copilot, acp:COMMAND, or any command line:

# [agents.mine]                # reads the prompt on stdin; then: agent = "mine"
# command = ["my-agent", "--yes"]
`;
}
