/** What `ralph help` explains besides commands, in the order of its list; each is a file in `docs/help`. */
export const TOPICS = {
  "getting-started": "from nothing to a first accepted task",
  tasks: "where tasks come from, and how they are marked",
  gates: "commands that must pass before a task counts as done",
  verdicts: "when a task is done",
  stopping: "when a run stops, and how to stop it",
  "exit-codes": "what the exit code of a command says",
  configuration: "what can be set, and where",
  files: "what lies where",
  environment: "variables that Ralph reads, and those that it sets",
  sandbox: "agents that see their work and little else",
  lanes: "several tasks at a time on one machine",
  workers: "several machines that share one queue",
  people: "what waits for you, and how to answer",
  troubleshooting: "what to do when it does not do what you want",
} as const satisfies Record<string, string>;
