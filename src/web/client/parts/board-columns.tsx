import type { Column } from "../../../core/projections/board.ts";
import type { Overview } from "../../../core/projections/overview.ts";
import { useState } from "preact/hooks";
import { TaskCard } from "./task-card.tsx";

const SIGNS: Readonly<Record<Column["is"], string>> = { todo: "·", stage: "▸", blocked: "■", done: "✔" };
/** A plan may have thousands of tasks. */
const SHOWN = 40;

/** The tasks in columns: to do, each stage, blocked, done. */
export function BoardColumns({ overview }: { readonly overview: Overview }) {
  return (
    <section class="board" aria-label="Board">
      {overview.board.columns.map((column) => (
        <BoardColumn key={`${column.is} ${column.name}`} column={column} isDriven={overview.isDriven} />
      ))}
    </section>
  );
}

function BoardColumn({ column, isDriven }: { readonly column: Column; readonly isDriven: boolean }) {
  const [shown, setShown] = useState(SHOWN);
  const cards = column.is === "done" ? column.cards.toReversed() : column.cards;
  const left = cards.length - shown;
  return (
    <section
      class={`column is-${column.is} ${cards.length === 0 ? "is-empty" : ""}`}
      aria-label={`${column.name}, ${cards.length}`}
    >
      <h2 class="column-title">
        <span aria-hidden="true">{SIGNS[column.is]}</span> {column.name}
        <span class="column-count">{cards.length}</span>
      </h2>
      {cards.length === 0 ? (
        <p class="column-empty" aria-hidden="true">
          –
        </p>
      ) : (
        <ul class="cards">
          {cards.slice(0, shown).map((card) => (
            <li key={card.id}>
              <TaskCard card={card} isDriven={isDriven} />
            </li>
          ))}
        </ul>
      )}
      {left > 0 && (
        <button type="button" class="quiet more" onClick={() => setShown(shown + 200)}>
          {left} more
        </button>
      )}
    </section>
  );
}
