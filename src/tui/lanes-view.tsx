import type { ReactNode } from "react";
import { formatDuration } from "../core/duration.ts";
import { dollars } from "../core/limits/budget.ts";
import type { LaneRow, LaneWork } from "../core/projections/lane-rows.ts";
import type { LiveProgress } from "../core/projections/overview.ts";
import { BUILD } from "../core/stages/stages.ts";
import { wholeSeconds } from "./clock-time.ts";
import { Line, Panel, Title, type Part } from "./line.tsx";
import type { Model } from "./model.ts";

/** What goes on right now, lane by lane. */
export function LanesView({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
  const { lanes, hint } = model.overview;
  const busy = lanes.filter(({ work }) => work !== null).length;
  const shown = lanes.slice(0, rows - 1);
  const more = lanes.length > shown.length ? ` · ${lanes.length - shown.length} more` : "";
  return (
    <Panel rows={rows}>
      <Title name={lanes.length === 0 ? "Lanes" : `Lanes: ${busy} of ${lanes.length} at work${more}`} />
      {lanes.length === 0 && <Line parts={idle(model, hint)} />}
      {shown.map((lane) => (
        <Line key={lane.lane} parts={laneParts(lane, model)} />
      ))}
    </Panel>
  );
}

function idle({ overview }: Model, hint: string | null): readonly Part[] {
  const said = overview.status.run === null ? "No run has been started here." : "No run is under way.";
  if (hint === null) return [`  ${said}`];
  return [
    `  ${said} ${overview.status.run === null ? "Start one: " : "Go on: "}`,
    { text: hint, look: "bold" },
  ];
}

function laneParts({ lane, work }: LaneRow, { overview, size }: Model): readonly Part[] {
  const slot: Part = { text: `Slot ${lane}: `, look: "bold" };
  if (work === null) return [slot, { text: "–", look: "dim" }];
  const live = overview.progress.find(({ iteration }) => iteration === work.iteration);
  const facts = [
    work.stage === BUILD.name ? work.agent : work.stage,
    work.task,
    `iteration ${work.ordinal}/${work.maxIterations}`,
    formatDuration(wholeSeconds(overview.now - work.startedAt)),
    doing(work, live),
    ...(size.columns >= 120 ? details(work, live) : []),
  ];
  return [slot, facts.filter(Boolean).join(" · ")];
}

const DOING: Readonly<Record<LaneWork["doing"], string>> = {
  agent: "",
  evidence: "its work is looked at",
  gates: "gates",
  verdict: "verdict",
};

function doing(work: LaneWork, live: LiveProgress | undefined): string {
  if (work.doing !== "agent" || live === undefined) return DOING[work.doing];
  return [live.lastTool, live.currentFile].filter((word) => word !== null).join(" ");
}

function details(work: LaneWork, live: LiveProgress | undefined): readonly string[] {
  const limit = `of ${formatDuration(work.timeoutMs)}`;
  if (live === undefined) return [limit];
  return [
    limit,
    ...(live.toolCalls === 0 ? [] : [`${live.toolCalls} tool calls`]),
    ...(live.filesTouched === 0 ? [] : [`${live.filesTouched} files`]),
    ...(live.costUsd === null ? [] : [dollars(live.costUsd)]),
  ];
}
