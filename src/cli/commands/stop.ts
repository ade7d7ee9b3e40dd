import type { Command } from "commander";
import { isDriven, openProject } from "../../compose.ts";
import { isOpen } from "../../core/loop/state.ts";
import type { Act, CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";
import { nobody } from "../nobody.ts";
import { requirePerson } from "../require-person.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--now", "do not wait for the iteration: as Ctrl-C")
    .action((flags: { now?: boolean }) => act((context) => stop(flags.now === true, context)));
}

async function stop(now: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "stop the run");
  const { run } = await readState(project);
  if (!isOpen(run) || !(await isDriven(project))) {
    context.stderr.write(`ralph: nothing to stop, ${nobody(project)}\n`);
    return 0;
  }
  const urgency = now ? "now" : "after-iteration";
  await withLog(project, (log) => log.append([{ type: "stop.requested", run: run.id, urgency }]));
  context.stderr.write(
    now ? "ralph: the run is asked to stop now\n" : "ralph: the run ends after the current iteration\n",
  );
  return 0;
}
