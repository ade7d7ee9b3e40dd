import type { CliContext } from "./commands.ts";
import { accountOf, logbookOf, type Project } from "../compose.ts";
import { onlyPretends } from "../core/demo/demo-usage.ts";
import { logEntry } from "../core/logbook/log-entry.ts";
import type { AgentSettings } from "../core/settings.ts";
import { ownRedactor } from "./report-error.ts";

/** Tells the person in front of the program, and the logbook, what goes wrong without ending it. */
export function warnTo({ stderr, env }: CliContext, project: Project): (text: string) => void {
  // That it cannot be written is said by whoever writes the facts there; before the first run there is no folder for it.
  const logbook = logbookOf(project, () => {});
  return (text) => {
    const told = ownRedactor(env)(text);
    stderr.write(`ralph: ${told}\n`);
    logbook.write(logEntry("warn", told, Date.now()));
  };
}

/** Better to know before the night than after it who works, and whose money it is. `asked` is the agent of the command line. */
export function sayAgent(agent: AgentSettings, { env, stderr }: CliContext, asked?: string): void {
  if (onlyPretends(agent) && asked !== agent.name) stderr.write(PRETENDS);
  const account = accountOf(agent, env);
  if (account === null) return;
  const sentence = account.isThere
    ? `${agent.name} uses ${account.says}`
    : `${agent.name} may not be logged in: ${account.says} was found; see ralph doctor`;
  stderr.write(`ralph: ${sentence}\n`);
}

const PRETENDS = `ralph: the agent is demo, which only pretends to work
  → install a coding agent (ralph doctor names them), and write its name into .ralph/ralph.toml
`;
