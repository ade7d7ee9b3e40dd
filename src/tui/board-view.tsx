import { Box } from "ink";
import type { ReactNode } from "react";
import type { Card, Column } from "../core/projections/board.ts";
import { CARD_ROWS, isWide } from "./layout.ts";
import { Line, Panel, Title, type Part } from "./line.tsx";
import type { Model } from "./model.ts";
import { listedCards, selectedCard, shownColumns, windowAround } from "./selection.ts";
import { TASK_SIGNS } from "./task-signs.ts";

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
