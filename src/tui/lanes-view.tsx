import type { ReactNode } from "react";
import { formatDuration } from "../core/duration.ts";
import { dollars } from "../core/limits/budget.ts";
import type { LaneRow, LaneWork } from "../core/projections/lane-rows.ts";
import type { LiveProgress, Overview } from "../core/projections/overview.ts";
import { isAtWork, workerInWords, type WorkerRow } from "../core/projections/workers.ts";
import { BUILD } from "../core/stages/stages.ts";
import { wholeSeconds } from "./clock-time.ts";
import { laneEntries } from "./lane-entries.ts";
import { Line, Panel, Title, type Part } from "./line.tsx";
import type { Model } from "./model.ts";

/** What goes on right now, lane by lane. */
export function LanesView({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
  const { hint } = model.overview;
  const entries = laneEntries(model.overview);
  const shown = entries.slice(0, rows - 1);
  const more = entries.length > shown.length ? ` · ${entries.length - shown.length} more` : "";
  return (
    <Panel rows={rows}>
      <Title name={entries.length === 0 ? "Lanes" : `${title(model.overview)}${more}`} />
      {entries.length === 0 && <Line parts={idle(model, hint)} />}
      {shown.map((entry) =>
        entry.is === "worker" ? (
          <Line key={`worker ${entry.worker.id}`} parts={workerParts(entry.worker, model)} />
        ) : (
          <Line key={entry.row.lane} parts={laneParts(entry.row, entry.ofWorker, model)} />
        ),
      )}
    </Panel>
  );
}

function title({ lanes, workers }: Overview): string {
  if (workers === null)
    return `Lanes: ${lanes.filter(({ work }) => work !== null).length} of ${lanes.length} at work`;
  const here = workers.filter(isAtWork);
  const all = here.reduce((sum, worker) => sum + worker.lanes, 0);
  const vanished = workers.filter(({ is }) => is === "vanished").length;
  const lost = vanished === 0 ? "" : `, ${vanished} vanished`;
  if (here.length === 0) return `Workers: none here${lost}`;
  const theirs = lanes.filter(({ work }) => here.some(({ id }) => id === work?.worker)).length;
  return `Workers: ${here.length} here${lost} · ${theirs} of ${all} lanes at work`;
}

function workerParts(worker: WorkerRow, { overview }: Model): readonly Part[] {
  const { id, host, lanes, is } = worker;
  const name: Part = {
    text: `${is === "vanished" ? "✗" : "●"} ${id}`,
    look: is === "vanished" ? "bad" : "bold",
  };
  const size = lanes === 1 ? "1 lane" : `${lanes} lanes`;
  const doing = workerInWords(worker, wholeSeconds(overview.now));
  return [name, ` on ${host} · ${size} · `, is === "vanished" ? { text: doing, look: "bad" } : doing];
}

function idle({ overview }: Model, hint: string | null): readonly Part[] {
  const isNew = overview.status.run === null;
  if (overview.workers !== null)
    return [
      `  No worker is here. ${isNew ? "Submit tasks: " : "Start one: "}`,
      { text: hint ?? "ralph worker", look: "bold" },
    ];
  const said = isNew ? "No run has been started here." : "No run is under way.";
  if (hint === null) return [`  ${said}`];
  return [`  ${said} ${isNew ? "Start one: " : "Go on: "}`, { text: hint, look: "bold" }];
}

function laneParts({ lane, work }: LaneRow, ofWorker: boolean, { overview, size }: Model): readonly Part[] {
  const slot: Part = ofWorker ? "    " : { text: `Slot ${lane}: `, look: "bold" };
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
