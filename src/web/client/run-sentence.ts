import type { Overview } from "../../core/projections/overview.ts";
import type { RunStatus } from "../../core/projections/status.ts";
import type { Instant } from "../../core/time.ts";
import { capital, elapsed, moment, sentence } from "./format.ts";

/** How the run stands, for somebody who has just sat down. */
export interface RunSentence {
  readonly sign: string;
  readonly tone: "running" | "waiting" | "good" | "bad" | "still";
  readonly text: string;
}

export function runSentence({ status, hint, workers }: Overview, now: Instant): RunSentence {
  const { run } = status;
  const next = hint === null ? "" : ` Next: ${hint}`;
  if (run === null) return { sign: "·", tone: "still", text: `No run yet.${next}` };
  if (run.interrupted && workers !== null) {
    return { sign: "!", tone: "bad", text: `It stands still: no worker is here.${next}` };
  }
  if (run.interrupted) {
    return { sign: "!", tone: "bad", text: `Interrupted: its process died.${next} goes on with it.` };
  }
  switch (run.state) {
    case "running":
      return { sign: "▸", tone: "running", text: "Running" };
    case "waiting":
      return { sign: "◔", tone: "waiting", text: waitingText(run, now) };
    case "ended": {
      const isGood = run.outcome === "completed";
      const outcome = capital(run.outcome ?? "ended");
      const why = run.reason === null || run.reason === "" ? "" : `: ${run.reason}`;
      const text = `${sentence(`${outcome}${why}`)}${next}`;
      return { sign: isGood ? "✔" : "✗", tone: isGood ? "good" : "bad", text };
    }
  }
}

function waitingText({ waiting_until: until }: RunStatus, now: Instant): string {
  if (until === null) return "Waiting";
  const at = Date.parse(until);
  const left = at > now ? ` (${elapsed(at - now)})` : "";
  return `Waiting until ${moment(at, now)}${left}`;
}

/** How long it has gone on, or went on. */
export function elapsedOf({ started_at: from, ended_at: to }: RunStatus, now: Instant): number {
  return (to === null ? now : Date.parse(to)) - Date.parse(from);
}
