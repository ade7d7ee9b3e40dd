import { setTimeout as sleep } from "node:timers/promises";
import type { Project } from "../../compose.ts";
import { restOf } from "../../core/loop/decide.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { followLog } from "../../engine/follow.ts";
import type { CliContext } from "../commands.ts";
import { withLog } from "../project-state.ts";
import type { RunPrinter } from "../print/run-printer.ts";

const LOOK_MS = 1_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Shows what the workers do until nobody can do anything more; whoever watches stops nothing by leaving. */
export async function watchRun(
  project: Project,
  printer: RunPrinter,
  { stderr }: CliContext,
): Promise<number> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  for (const signal of SIGNALS) process.on(signal, leave);
  try {
    return await withLog(project, async (log) => {
      const followed = await followLog(log);
      for (;;) {
        for (const { event, state } of await followed.catchUp()) await printer.follow(event, state);
        const rest = restOf(followed.state, Date.now());
        if (rest !== null) {
          if (followed.state.run?.end == null) stderr.write(`ralph: nobody can go on: ${rest.reason}\n`);
          return EXIT_CODES[rest.outcome];
        }
        await sleep(LOOK_MS, undefined, { signal: leaving.signal }).catch(() => {});
        if (leaving.signal.aborted) return EXIT_CODES.stopped;
      }
    });
  } finally {
    printer.rest();
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}
