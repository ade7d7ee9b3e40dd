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

export type SourceTemplate = keyof typeof SOURCE_TEMPLATES;

/** One small example of each kind of task source. */
export const SOURCE_TEMPLATES = {
  checklist: {
    path: "TODO.md",
    text: `# Tasks

- [ ] Say hello
  - HELLO.md greets the reader
`,
  },
  roadmap: {
    path: ".ralph/roadmap.md",
    text: `# Roadmap

## Phase 1

- [ ] **task-001**: Say hello
  - ralph: true
  - max_iterations: 10
  - success: HELLO.md greets the reader
`,
  },
  tasks: {
    path: ".ralph/tasks.json",
    text: `{
  "project": "my project",
  "description": "",
  "verifyCommands": [],
  "userStories": [
    {
      "id": "US-001",
      "title": "Say hello",
      "description": "",
      "acceptanceCriteria": ["HELLO.md greets the reader"],
      "priority": 1,
      "passes": false
    }
  ]
}
`,
  },
  prompt: {
    path: ".ralph/PROMPT.md",
    text: `# Goal

Say hello: HELLO.md greets the reader.
`,
  },
} as const;
