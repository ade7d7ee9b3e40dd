import type { Project, Queue } from "../compose.ts";
import { RalphError } from "../core/ralph-error.ts";

/** For commands that make sense only where machines share their tasks. */
export function requireQueue({ queue }: Project, command: string): Queue {
  if (queue !== null) return queue;
  throw new RalphError("config", `ralph ${command} needs the database that the machines share`, {
    hint: 'name it: [queue] url = "postgres://USER@HOST/NAME" in .ralph/ralph.toml, or RALPH_QUEUE_URL',
  });
}
