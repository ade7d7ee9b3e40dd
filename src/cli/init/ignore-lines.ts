import { existsSync, readFileSync } from "node:fs";
import { UNVERSIONED } from "../../core/projections/unversioned.ts";

const HEADING = "# ralph: views, letters and logs";

/** The text of `.gitignore` with our lines in it, or null when they are there already. */
export function withIgnoreLines(path: string, folder: string): string | null {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = UNVERSIONED.map((name) => `${folder}/${name}`).filter((line) => !present.has(line));
  if (missing.length === 0) return null;
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const gap = start === "" ? "" : "\n";
  return `${start}${gap}${present.has(HEADING) ? "" : `${HEADING}\n`}${missing.join("\n")}\n`;
}
