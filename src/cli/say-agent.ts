import { accountOf } from "../compose.ts";
import { onlyPretends } from "../core/demo/only-pretends.ts";
import type { AgentSettings } from "../core/settings.ts";
import type { CliContext } from "./commands.ts";

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
