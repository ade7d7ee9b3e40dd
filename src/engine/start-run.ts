import { randomUUID } from "node:crypto";
import { isOpen, type RunState } from "../core/loop/state.ts";
import { sameSource } from "../core/plan/task.ts";
import type { Settings } from "../core/settings.ts";
import type { Journal } from "./journal.ts";

/**
 * Opens a run: a run of the same source whose process died goes on with its counters; a run of another
 * source that died is closed first. Only the holder of the project's lock may call this.
 */
export async function startRun(
  journal: Journal,
  settings: Settings,
  pid: number,
  version: string,
  head: string | null,
): Promise<"started" | "resumed"> {
  await journal.catchUp();
  const { run } = journal.state;
  if (isOpen(run) && sameSource(run.settings.source, settings.source)) {
    await journal.record({
      type: "run.resumed",
      run: run.id,
      settings: withSameGates(run, settings),
      pid,
      head,
    });
    return "resumed";
  }
  if (isOpen(run)) {
    await journal.record({
      type: "run.ended",
      run: run.id,
      outcome: "stopped",
      reason: "its process died; another run was started",
    });
  }
  await journal.record({ type: "run.started", run: randomUUID(), settings, pid, version, head });
  return "started";
}

/** What gates rest on is what it was when the run started, not what a killed agent may have made of it. */
function withSameGates({ settings: before }: RunState, settings: Settings): Settings {
  const isSame = JSON.stringify(before.gates) === JSON.stringify(settings.gates);
  return isSame ? { ...settings, protect: before.protect } : settings;
}
