import type { Card, Column } from "../core/views/overview.ts";
import type { TaskId } from "../core/plan.ts";
import type { InboxItem } from "../core/views/inbox.ts";
import { isWide } from "./layout.ts";
import type { Model } from "./model.ts";

/** The columns with the cards that the filter lets through. */
export function shownColumns({ overview, filter }: Pick<Model, "overview" | "filter">): readonly Column[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return overview.board.columns;
  return overview.board.columns.map((column) => ({
    ...column,
    cards: column.cards.filter((card) => words.every((word) => textOf(card).includes(word))),
  }));
}

function textOf({ id, title, status, stage, agent }: Card): string {
  return `${id} ${title} ${status} ${stage} ${agent ?? ""}`.toLowerCase();
}

/** In a small window: one list, and first what matters now. */
export function listedCards(model: Pick<Model, "overview" | "filter">): readonly Card[] {
  const cards = shownColumns(model).flatMap((column) => column.cards.map((card) => ({ card, column })));
  return cards
    .toSorted((a, b) => importance(a.card, a.column) - importance(b.card, b.column))
    .map(({ card }) => card);
}

const IMPORTANCE = { blocked: 1, stage: 2, todo: 3, done: 4 } as const;

function importance({ lane }: Card, { is }: Column): number {
  return lane === null ? IMPORTANCE[is] : 0;
}

/** The card under the cursor; the first one as long as nobody moved it, or when it is filtered out. */
export function selectedCard(model: Model): Card | null {
  const cards = listedCards(model);
  return cards.find(({ id }) => id === model.task) ?? cards[0] ?? null;
}

export function selectedItem({ overview, item }: Model): InboxItem | null {
  const { inbox } = overview.status;
  return inbox.find(({ task }) => task === item) ?? inbox[0] ?? null;
}

export function selectedTask(model: Model): TaskId | null {
  if (model.panel === "inbox") return selectedItem(model)?.task ?? null;
  return selectedCard(model)?.id ?? null;
}

export type Direction = "up" | "down" | "left" | "right";

export function moved(model: Model, direction: Direction, by: number): Model {
  const card = selectedCard(model);
  if (card === null) return model;
  const task = isWide(model) ? inColumns(model, card, direction, by) : inList(model, card, direction, by);
  return { ...model, task };
}

function inList(model: Model, { id }: Card, direction: Direction, by: number): TaskId {
  if (direction === "left" || direction === "right") return id;
  return neighbour(listedCards(model), id, direction === "down" ? by : -by);
}

function inColumns(model: Model, { id }: Card, direction: Direction, by: number): TaskId {
  const columns = shownColumns(model).filter(({ cards }) => cards.length > 0);
  const at = columns.findIndex(({ cards }) => cards.some((card) => card.id === id));
  const cards = columns[at]?.cards ?? [];
  if (direction === "up" || direction === "down")
    return neighbour(cards, id, direction === "down" ? by : -by);
  const beside = columns[at + (direction === "right" ? 1 : -1)]?.cards ?? cards;
  const row = cards.findIndex((card) => card.id === id);
  return beside[Math.min(row, beside.length - 1)]?.id ?? id;
}

export function movedInInbox(model: Model, by: number): Model {
  const item = selectedItem(model);
  if (item === null) return model;
  const ids = model.overview.status.inbox.map(({ task }) => ({ id: task }));
  return { ...model, item: neighbour(ids, item.task, by) };
}

function neighbour(items: readonly { readonly id: TaskId }[], id: TaskId, by: number): TaskId {
  const at = items.findIndex((item) => item.id === id);
  return items[Math.min(Math.max(at + by, 0), items.length - 1)]?.id ?? id;
}

/** The part of a list that is shown in so many rows, so that the cursor is in it. */
export function windowAround<T>(items: readonly T[], at: number, rows: number): readonly T[] {
  const from = Math.max(0, Math.min(at - Math.floor(rows / 2), items.length - rows));
  return items.slice(from, from + rows);
}
