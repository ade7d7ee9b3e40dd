import { TASK_SIGNS } from "../core/views/signs.ts";
import { isAtWork, workerInWords, type WorkerRow } from "../core/views/status.ts";
import { formatDuration } from "../core/time.ts";
import { Box } from "ink";
import type { ReactNode } from "react";
import { dollars } from "../core/loop/brakes.ts";
import type { LiveProgress, Overview, Card, Column, LaneWork } from "../core/views/overview.ts";
import { BUILD } from "../core/loop/stages.ts";
import { APPROVAL } from "./dialog-view.tsx";
import { CARD_ROWS, isWide, type LaneEntry, laneEntries } from "./layout.ts";
import { Line, Panel, type Part, Title, type ViewProps } from "./line.tsx";
import { wholeSeconds } from "./plain-line.ts";
import type { Model } from "./model.ts";
import { listedCards, selectedCard, shownColumns, windowAround } from "./selection.ts";

/** The tasks: in columns, or in a small window as a list. */
export function BoardView({ model, rows }: ViewProps): ReactNode {
  const isFocused = model.panel === "board";
  const filter = model.filter === "" ? "" : ` · only "${model.filter}"`;
  if (model.overview.board.columns.every(({ cards }) => cards.length === 0))
    return (
      <Panel rows={rows}>
        <Title name="Board" isFocused={isFocused} />
        <Line parts={["  No tasks are known yet: they are read when a run starts."]} />
        <Line parts={["  See what would be worked on: ", { text: "ralph tasks", look: "bold" }]} />
        <Line parts={["  Write the first ones: ", { text: "ralph init", look: "bold" }]} />
      </Panel>
    );
  const columns = shownColumns(model);
  const counts = isWide(model) ? [] : columns.map(({ name, cards }) => `${name} ${cards.length}`);
  const name = counts.length === 0 ? "Board" : `Board: ${counts.join(" · ")}`;
  return (
    <Panel rows={rows}>
      <Title name={`${name}${filter}`} isFocused={isFocused} />
      {isWide(model) ? (
        <Box>
          {columns.map((column) => (
            <CardColumn key={column.name} model={model} column={column} rows={rows - 1} />
          ))}
        </Box>
      ) : (
        <CardList model={model} rows={rows - 1} />
      )}
    </Panel>
  );
}

function CardList({ model, rows }: ViewProps): ReactNode {
  const cards = listedCards(model);
  const selected = selectedCard(model)?.id;
  if (cards.length === 0)
    return <Line parts={[{ text: "  Nothing matches the filter; Esc takes it away.", look: "dim" }]} />;
  const at = cards.findIndex(({ id }) => id === selected);
  return windowAround(cards, at, rows).map((card) => (
    <Line
      key={card.id}
      parts={[
        ...idParts(card, card.id === selected),
        "  ",
        { text: waitOf(card) ?? card.title, look: isQuiet(card) ? "dim" : "plain" },
      ]}
      end={card.loop === null ? [] : [`  ${card.loop}`]}
    />
  ));
}

/** Why it waits for a person, in the words of all screens; null: it does not. */
function waitOf({ status, waitsFor }: Card): string | null {
  if (status === "review") return APPROVAL;
  return status === "skipped" ? "skipped" : waitsFor;
}

function isQuiet({ status }: Card): boolean {
  return status === "done" || status === "skipped";
}

function idParts({ id, status }: Card, isSelected: boolean): readonly Part[] {
  const { sign, look } = TASK_SIGNS[status];
  return [
    isSelected ? { text: "›", look: "selected" } : " ",
    { text: `${sign} `, look },
    { text: id, look: isSelected ? "selected" : "bold" },
  ];
}

/** Where a column is too narrow for both, the loop stands below the task's id. */
const ROOM_FOR_BOTH = 32;

function CardColumn({ model, column, rows }: ViewProps & { readonly column: Column }): ReactNode {
  const { name, cards } = column;
  const width = Math.floor(model.size.columns / model.overview.board.columns.length);
  const selected = selectedCard(model)?.id;
  const at = Math.max(
    0,
    cards.findIndex(({ id }) => id === selected),
  );
  const shown = windowAround(cards, at, Math.max(1, Math.floor((rows - 1) / CARD_ROWS)));
  const hidden = cards.length - shown.length;
  return (
    <Box flexDirection="column" width={width} paddingRight={2}>
      <Line
        parts={[
          { text: `${name} (${cards.length})`, look: "bold" },
          { text: hidden === 0 ? "" : ` · ${hidden} more`, look: "dim" },
        ]}
      />
      {shown.map((card) => {
        const { id, title, loop } = card;
        const waitsFor = waitOf(card);
        const isBeside = loop === null || width >= ROOM_FOR_BOTH;
        return (
          <Box key={id} flexDirection="column">
            <Line
              parts={idParts(card, id === selected)}
              end={isBeside && loop !== null ? [` ${loop}`] : []}
            />
            <Line
              parts={[
                isBeside ? "   " : `   ${loop} `,
                { text: waitsFor ?? title, look: waitsFor === null || isQuiet(card) ? "dim" : "ask" },
              ]}
            />
          </Box>
        );
      })}
    </Box>
  );
}

export function LanesView({ model, rows }: ViewProps): ReactNode {
  const entries = laneEntries(model.overview);
  const shown = entries.slice(0, rows - 1);
  const more = entries.length > shown.length ? ` · ${entries.length - shown.length} more` : "";
  return (
    <Panel rows={rows}>
      <Title name={entries.length === 0 ? "Lanes" : `${lanesTitle(model.overview)}${more}`} />
      {entries.length === 0 && <Line parts={idle(model)} />}
      {shown.map((entry, index) => (
        <Line
          key={index}
          parts={entry.is === "worker" ? workerParts(entry.worker, model) : laneParts(entry, model)}
        />
      ))}
    </Panel>
  );
}

function lanesTitle({ lanes, workers }: Overview): string {
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
  const doing = workerInWords(worker, wholeSeconds(overview.now));
  const about = ` on ${host} · ${lanes === 1 ? "1 lane" : `${lanes} lanes`} · `;
  return is === "vanished"
    ? [{ text: `✗ ${id}`, look: "bad" }, about, { text: doing, look: "bad" }]
    : [{ text: `● ${id}`, look: "bold" }, about, doing];
}

function idle({ overview }: Model): readonly Part[] {
  const { hint, workers, status } = overview;
  const isNew = status.run === null;
  if (workers !== null)
    return [
      `  No worker is here. ${isNew ? "Submit tasks: " : "Start one: "}`,
      { text: hint ?? "ralph worker", look: "bold" },
    ];
  const said = isNew ? "No run has been started here." : "No run is under way.";
  if (hint === null) return [`  ${said}`];
  return [`  ${said} ${isNew ? "Start one: " : "Go on: "}`, { text: hint, look: "bold" }];
}

type LaneOfEntry = Extract<LaneEntry, { is: "lane" }>;

function laneParts({ row, ofWorker }: LaneOfEntry, { overview, size }: Model): readonly Part[] {
  const { lane, work } = row;
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

function doing(work: LaneWork, live: LiveProgress | undefined): string {
  if (work.doing !== "agent" || live === undefined) return work.says;
  return [live.lastTool, live.currentFile].filter((word) => word !== null).join(" ");
}

function details(work: LaneWork, live: LiveProgress | undefined): readonly string[] {
  return [
    `of ${formatDuration(work.timeoutMs)}`,
    live === undefined || live.toolCalls === 0 ? "" : `${live.toolCalls} tool calls`,
    live === undefined || live.filesTouched === 0 ? "" : `${live.filesTouched} files`,
    live === undefined || live.costUsd === null ? "" : dollars(live.costUsd),
  ];
}
