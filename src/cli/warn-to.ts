import { logbookOf, type Project } from "../compose.ts";
import { logEntry } from "../core/logbook/log-entry.ts";
import { createRedactor, secretsIn } from "../core/redact.ts";
import { secretsSeen } from "../engine/secrets-seen.ts";
import type { CliContext } from "./commands.ts";

/** Tells the person in front of the program, and the logbook, what goes wrong without ending it. */
export function warnTo({ stderr, env }: CliContext, project: Project): (text: string) => void {
  // That it cannot be written is said by whoever writes the facts there; before the first run there is no folder for it.
  const logbook = logbookOf(project, () => {});
  return (text) => {
    const told = createRedactor([...secretsIn(env), ...secretsSeen()])(text);
    stderr.write(`ralph: ${told}\n`);
    logbook.write(logEntry("warn", told, Date.now()));
  };
}
