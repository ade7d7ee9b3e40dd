import { isElsewhere, openScreen, transcriptOf } from "../../compose-screens.ts";
import type { Project } from "../../compose.ts";
import type { OperatorAct } from "../../core/operator/operator-act.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { actAsOperator, type Acted } from "../../engine/operator.ts";
import type { ScreenPorts } from "../../engine/watch-project.ts";
import type { OwnRunProcess } from "../../tui/run-monitor.tsx";
import type { CliContext } from "../commands.ts";
import { RunLines } from "../print/run-lines.ts";
import { PLAIN } from "../print/style.ts";
import { refreshStatus } from "../refresh-status.ts";

/** Shows the monitor until the person leaves it; answers the exit code. */
export async function showMonitor(
  project: Project,
  { env, stdout }: CliContext,
  ownRun?: OwnRunProcess,
): Promise<number> {
  const told = new RunLines(PLAIN);
  const lines: ScreenPorts["lines"] = (event, state) => told.of(event, state);
  const screen = openScreen({ project, env, mayAct: true, lines });
  try {
    // Only this command needs it, and it is most of what there is to load.
    const { runMonitor } = await import("../../tui/run-monitor.tsx");
    return await runMonitor({
      screen: screen.ports,
      transcript: (iteration) => transcriptOf(project, iteration),
      isElsewhere: (worker) => isElsewhere(project, worker),
      stdin: process.stdin,
      stdout,
      hasColours: !env["NO_COLOR"],
      act: (act) => record(project, screen.ports, act),
      ...(ownRun && { ownRun }),
    });
  } finally {
    await screen.close();
  }
}

async function record(project: Project, ports: ScreenPorts, act: OperatorAct): Promise<Acted> {
  const log = await ports.log();
  if (log === null)
    return { is: "refused", why: "nothing is recorded here yet; the first run begins the log: ralph run" };
  const acted = await actAsOperator(log, act, (await ports.driving()).isDriven);
  if (acted.is === "done") await refreshStatus(project);
  return acted;
}

/** Refuses where a screen cannot be drawn or keys cannot be read. */
export function requireTerminal({ env, stdout }: CliContext): void {
  const hint = "without one: ralph status, ralph inbox, ralph logs --follow";
  if (!process.stdin.isTTY || !stdout.isTTY)
    throw new RalphError("usage", "the monitor needs a terminal, for its screen and for your keys", { hint });
  if (env["TERM"] === "dumb")
    throw new RalphError("usage", "this terminal cannot show the monitor (TERM is dumb)", { hint });
}
