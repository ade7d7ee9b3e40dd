import type { ReactNode } from "react";
import { formatDuration } from "../core/duration.ts";
import { dollars } from "../core/limits/budget.ts";
import type { Overview } from "../core/projections/overview.ts";
import type { RunStatus } from "../core/projections/status.ts";
import { clockTime, wholeSeconds } from "./clock-time.ts";
import { headerNote } from "./layout.ts";
import { Line, Panel, type Part } from "./line.tsx";
import type { Model } from "./model.ts";

/** Who and what, how far, how long, how much; and how close the limits are. */
export function HeaderView({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
  const { overview, state } = model;
  const { run, cost } = overview.status;
  const note = headerNote(model);
  const facts = [
    ...(run === null
      ? []
      : [
          `iteration ${run.iterations}/${run.max_iterations}`,
          // When it died nobody knows.
          ...(run.interrupted ? [] : [elapsed(run, overview.now)]),
        ]),
    ...(state.run === null ? [] : [state.run.settings.agent]),
    ...(cost.usd === null ? [] : [dollars(cost.usd)]),
  ];
  const waiting = overview.status.inbox.length;
  return (
    <Panel rows={rows}>
      <Line
        parts={[
          { text: overview.project, look: "bold" },
          "  ",
          runState(run, overview.workers !== null),
          ...facts.map((fact): Part => ` · ${fact}`),
        ]}
        end={waiting === 0 ? [] : [{ text: ` ? ${waiting} for you`, look: "ask" }]}
      />
      <Line parts={meters(overview, model.size.columns)} />
      {note !== null && <Line parts={[{ text: note, look: "dim" }]} />}
    </Panel>
  );
}

function runState(run: RunStatus | null, isShared: boolean): Part {
  if (run === null) return { text: "no run yet", look: "dim" };
  if (run.interrupted && isShared) return { text: "✗ stands still", look: "bad" };
  if (run.interrupted) return { text: "✗ interrupted", look: "bad" };
  if (run.state === "running") return { text: "▸ running", look: "good" };
  if (run.state === "waiting")
    return {
      text: `· waiting until ${run.waiting_until === null ? "?" : clockTime(Date.parse(run.waiting_until))}`,
      look: "ask",
    };
  return run.outcome === "completed"
    ? { text: "✔ complete", look: "good" }
    : { text: `■ ended: ${run.outcome ?? "unknown"}`, look: "bad" };
}

function elapsed(run: RunStatus, now: number): string {
  const until = run.ended_at === null ? now : Date.parse(run.ended_at);
  return formatDuration(wholeSeconds(until - Date.parse(run.started_at)));
}

function meters({ status }: Overview, columns: number): readonly Part[] {
  const { calls, cost, breaker } = status;
  const width = columns >= 120 ? 20 : 6;
  const used = calls.used ?? 0;
  const hour =
    calls.limit === null
      ? [`calls ${used} this hour`]
      : [...bar("calls", used / calls.limit, width), `${used}/${calls.limit} this hour`];
  const spent = cost.usd ?? 0;
  const budget =
    cost.budget_usd === null
      ? []
      : [...bar("budget", spent / cost.budget_usd, width), `${dollars(spent)}/${dollars(cost.budget_usd)}`];
  const look = breaker.state === "CLOSED" ? "dim" : "bad";
  const sign = breaker.state === "CLOSED" ? "" : "■ ";
  return [
    ...hour,
    ...(budget.length === 0 ? [] : ["   ", ...budget]),
    "   ",
    { text: `${sign}breaker ${breaker.state.toLowerCase().replace("_", " ")}`, look },
  ];
}

function bar(name: string, share: number, width: number): readonly Part[] {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  const look = share >= 1 ? "bad" : share >= 0.8 ? "ask" : "good";
  return [`${name} `, { text: "█".repeat(full), look }, { text: "░".repeat(width - full), look: "dim" }, " "];
}
