import { isAtWork, workerInWords, type WorkerRow } from "../core/projections/status.ts";
import { formatDuration } from "../core/time.ts";
import { Box } from "ink";
import type { ReactNode } from "react";
import { dollars } from "../core/limits/budget.ts";
import type { TaskStatus } from "../core/loop/task-status.ts";
import type {
  LiveProgress,
  Overview,
  Card,
  Column,
  LaneRow,
  LaneWork,
} from "../core/projections/overview.ts";
import { BUILD } from "../core/stages/stages.ts";
import { CARD_ROWS, isWide, laneEntries } from "./layout.ts";
import { Line, type Look, Panel, type Part, Title } from "./line.tsx";
import { wholeSeconds } from "./plain-line.ts";
import type { Model } from "./model.ts";
import { listedCards, selectedCard, shownColumns, windowAround } from "./selection.ts";

/** The tasks: in columns, or in a small window as a list. */
export function BoardView({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
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
  if (isWide(model)) return <Columns model={model} rows={rows} name={`Board${filter}`} />;
  const counts = shownColumns(model).map(({ name, cards }) => `${name} ${cards.length}`);
  return (
    <Panel rows={rows}>
      <Title name={`Board: ${counts.join(" · ")}${filter}`} isFocused={isFocused} />
      <CardList model={model} rows={rows - 1} />
    </Panel>
  );
}

function CardList({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
  const cards = listedCards(model);
  const selected = selectedCard(model)?.id;
  if (cards.length === 0) return <Line parts={[NOTHING_FOUND]} />;
  const at = cards.findIndex(({ id }) => id === selected);
  const { from, to } = windowAround(cards.length, at, rows);
  return cards
    .slice(from, to)
    .map((card) => (
      <Line
        key={card.id}
        parts={cardParts(card, card.id === selected)}
        end={card.loop === null ? [] : [`  ${card.loop}`]}
      />
    ));
}

const NOTHING_FOUND: Part = { text: "  Nothing matches the filter; Esc takes it away.", look: "dim" };

function cardParts(card: Card, isSelected: boolean): readonly Part[] {
  const { sign, look } = TASK_SIGNS[card.status];
  const about = card.waitsFor ?? card.title;
  return [
    isSelected ? { text: "›", look: "selected" } : " ",
    { text: `${sign} `, look },
    { text: card.id, look: isSelected ? "selected" : "bold" },
    "  ",
    card.status === "done" ? { text: about, look: "dim" } : about,
  ];
}

function Columns({
  model,
  rows,
  name,
}: {
  readonly model: Model;
  readonly rows: number;
  readonly name: string;
}): ReactNode {
  const columns = shownColumns(model);
  const width = Math.floor(model.size.columns / columns.length);
  return (
    <Panel rows={rows}>
      <Title name={name} isFocused={model.panel === "board"} />
      <Box>
        {columns.map((column) => (
          <Box key={column.name} flexDirection="column" width={width} paddingRight={2}>
            <CardColumn model={model} column={column} rows={rows - 1} width={width} />
          </Box>
        ))}
      </Box>
    </Panel>
  );
}

function CardColumn({
  model,
  column,
  rows,
  width,
}: {
  readonly model: Model;
  readonly column: Column;
  readonly rows: number;
  readonly width: number;
}): ReactNode {
  const selected = selectedCard(model)?.id;
  const at = Math.max(
    0,
    column.cards.findIndex(({ id }) => id === selected),
  );
  const { from, to } = windowAround(column.cards.length, at, Math.max(1, Math.floor((rows - 1) / CARD_ROWS)));
  const hidden = column.cards.length - (to - from);
  return (
    <>
      <Line
        parts={[
          { text: `${column.name} (${column.cards.length})`, look: "bold" },
          { text: hidden === 0 ? "" : ` · ${hidden} more`, look: "dim" },
        ]}
      />
      {column.cards.slice(from, to).map((card) => (
        <CardRows key={card.id} card={card} isSelected={card.id === selected} width={width} />
      ))}
    </>
  );
}

/** Where a column is too narrow for both, the loop stands below the task's id. */
const ROOM_FOR_BOTH = 32;

function CardRows({
  card,
  isSelected,
  width,
}: {
  readonly card: Card;
  readonly isSelected: boolean;
  readonly width: number;
}): ReactNode {
  const { sign, look } = TASK_SIGNS[card.status];
  const loop = card.loop ?? "";
  const isBeside = width >= ROOM_FOR_BOTH;
  const about = card.waitsFor ?? card.title;
  return (
    <Box flexDirection="column">
      <Line
        parts={[
          isSelected ? { text: "›", look: "selected" } : " ",
          { text: `${sign} `, look },
          { text: card.id, look: isSelected ? "selected" : "bold" },
        ]}
        end={isBeside && loop !== "" ? [` ${loop}`] : []}
      />
      <Line
        parts={[
          isBeside || loop === "" ? "   " : `   ${loop} `,
          { text: about, look: card.waitsFor === null ? "dim" : "ask" },
        ]}
      />
    </Box>
  );
}

const TASK_SIGNS: Readonly<Record<TaskStatus, { readonly sign: string; readonly look: Look }>> = {
  todo: { sign: "·", look: "dim" },
  doing: { sign: "▸", look: "bold" },
  done: { sign: "✔", look: "good" },
  blocked: { sign: "■", look: "bad" },
  undecided: { sign: "?", look: "ask" },
  failed: { sign: "✗", look: "bad" },
  cancelled: { sign: "✗", look: "bad" },
};

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

function doing(work: LaneWork, live: LiveProgress | undefined): string {
  if (work.doing !== "agent" || live === undefined) return work.says;
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
