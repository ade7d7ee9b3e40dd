/** The folder that an iteration's agent side and we share: the variable that names it, and the files in it. */
export const ITERATION_FILES = {
  variable: "RALPH_ITERATION_DIR",
  task: "task.json",
  reports: "reports.jsonl",
} as const;
