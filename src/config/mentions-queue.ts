import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Of all variables that are settings, the one that says something when it is empty: this machine works alone. */
const QUEUE_VARIABLE = "RALPH_QUEUE_URL";

/** Whether the configuration may have a queue: looking for the word is many times faster than parsing. */
export function mayHaveQueue(ralphDir: string, env: NodeJS.ProcessEnv): boolean {
  const variable = env[QUEUE_VARIABLE]?.trim();
  if (variable !== undefined) return variable !== "";
  return ["ralph.toml", "ralph.json"].some((name) => mentionsQueue(join(ralphDir, name)));
}

function mentionsQueue(file: string): boolean {
  try {
    return /\bqueue\b/.test(readFileSync(file, "utf8"));
  } catch {
    return false; // whoever needs the configuration says why it cannot be read
  }
}
