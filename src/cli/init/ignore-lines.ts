import { existsSync, readFileSync } from "node:fs";

const HEADING = "# ralph: views, letters and logs";

/** What must not be committed, relative to the root of the repository. */
const IGNORED = [
  "active.json",
  "status.json",
  "progress.json",
  "metrics.json",
  "blocked*.txt",
  "decide*.txt",
  "interventions/",
  "logs/",
  "archive/",
];

/** The text of `.gitignore` with our lines in it, or null when they are there already. */
export function withIgnoreLines(path: string, folder: string): string | null {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = IGNORED.map((name) => `${folder}/${name}`).filter((line) => !present.has(line));
  if (missing.length === 0) return null;
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const gap = start === "" ? "" : "\n";
  return `${start}${gap}${present.has(HEADING) ? "" : `${HEADING}\n`}${missing.join("\n")}\n`;
}
