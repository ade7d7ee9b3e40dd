import { resolve } from "node:path";
import type { Project } from "../compose.ts";
import { RalphError } from "../core/ralph-error.ts";

/** Answers, unblocking, messages and resets are a person's: an agent of this repository is refused. */
export function requirePerson({ ralphDir }: Project, env: NodeJS.ProcessEnv, act: string): void {
  const { RALPH_MARKER: marker, RALPH_DIR: folder } = env;
  if (marker === undefined || folder === undefined || resolve(folder) !== resolve(ralphDir)) return;
  throw new RalphError("usage", `an agent cannot ${act}: that is for a person to do`, {
    hint: "print <promise>BLOCKED:why</promise> or <promise>DECIDE:question</promise> instead",
  });
}
