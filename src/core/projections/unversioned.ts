/** What lies in `.ralph/` and is not for the repository: views, letters, logs; as patterns of `.gitignore`. */
export const UNVERSIONED = [
  "active.json",
  "status.json",
  "progress.json",
  "metrics.json",
  "blocked*.txt",
  "decide*.txt",
  "interventions/",
  "logs/",
  "archive/",
  ".ralph-tmp-*",
];
