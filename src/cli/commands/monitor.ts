import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import type { Act, CliContext } from "../commands.ts";
import { requireTerminal, showMonitor } from "../monitor/show-monitor.ts";
import { requirePerson } from "../require-person.ts";

export function define(command: Command, act: Act): void {
  command.action(() => act(monitor));
}

async function monitor(context: CliContext): Promise<number> {
  requireTerminal(context);
  const project = await openProject(context);
  requirePerson(project, context.env, "use the monitor");
  return showMonitor(project, context);
}
