import { useState } from "preact/hooks";
import type { Card } from "../../../core/projections/board.ts";
import { now } from "../clock.ts";
import { count, dollars, elapsed, sentence } from "../format.ts";
import { mayAct, overview, progressOfTask } from "../overview-store.ts";
import { useAct } from "../use-act.ts";
import { ActButton, ActOutcome } from "./act-button.tsx";
import { SteerForm } from "./steer-form.tsx";

const STATUS_SIGNS: Readonly<Record<Card["status"], string>> = {
  todo: "·",
  doing: "▸",
  done: "✔",
  blocked: "■",
  undecided: "?",
  failed: "✗",
  cancelled: "⊘",
};

export function TaskCard({ card, isDriven }: { readonly card: Card; readonly isDriven: boolean }) {
  const isRunning = card.lane !== null;
  const iteration = overview.value?.lanes.find(({ work }) => work?.task === card.id)?.work?.iteration;
  return (
    <article
      class={`card is-${card.status} ${isRunning ? "is-live" : ""}`}
      aria-label={`${card.id}: ${card.title}`}
    >
      <p class="card-top">
        <span class="card-sign" aria-hidden="true">
          {STATUS_SIGNS[card.status]}
        </span>
        <span class="card-id">{card.id}</span>
        {card.loop !== null && <span class="card-loop">{card.loop}</span>}
      </p>
      <h3 class="card-title">{card.title}</h3>
      {isRunning && <Doing card={card} />}
      {card.waitsFor !== null && <p class="card-waits">{sentence(card.waitsFor)}</p>}
      <p class="card-facts">
        {factsOf(card).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        {iteration !== undefined && <a href={`/iterations/${iteration}`}>iteration {iteration}</a>}
      </p>
      {mayAct.value && card.status !== "done" && <CardActs card={card} isDriven={isDriven} />}
    </article>
  );
}

function factsOf(card: Card): readonly string[] {
  const isOver = card.status === "done";
  return [
    ...(card.status === "failed" || card.status === "cancelled" ? [card.status] : []),
    ...(card.agent === null ? [] : [card.agent]),
    ...(card.complexity === null || isOver ? [] : [card.complexity]),
    ...(card.costUsd === null ? [] : [dollars(card.costUsd)]),
    ...(card.dependsOn.length === 0 || isOver ? [] : [`after ${card.dependsOn.join(", ")}`]),
  ];
}

function Doing({ card }: { readonly card: Card }) {
  const progress = progressOfTask(card.id);
  const since = card.startedAt === null ? null : elapsed(now.value - card.startedAt);
  return (
    <div class="card-doing">
      <p>
        <span class="pulse" aria-hidden="true" />
        <span class="card-elapsed">{since}</span>
        {progress !== undefined && (
          <span class="muted">
            {count(progress.toolCalls, "call")} · {count(progress.filesTouched, "file")}
          </span>
        )}
      </p>
      {progress?.currentFile != null && <p class="card-file">{progress.currentFile}</p>}
    </div>
  );
}

function CardActs({ card, isDriven }: { readonly card: Card; readonly isDriven: boolean }) {
  const acting = useAct();
  const [isSteering, steer] = useState(false);
  return (
    <div class="card-acts">
      <div class="card-buttons">
        <button
          type="button"
          class="quiet small"
          aria-expanded={isSteering}
          aria-label={`Steer ${card.id}`}
          onClick={() => steer(!isSteering)}
        >
          Steer{isSteering ? "" : "…"}
        </button>
        {card.lane !== null && (
          <ActButton
            label="Cancel"
            about={card.id}
            reason={isDriven ? null : "no run is under way"}
            confirm={`Cancel ${card.id}?`}
            onAct={() => void acting.run({ do: "cancel", task: card.id })}
          />
        )}
      </div>
      {isSteering && <SteerForm task={card.id} />}
      <ActOutcome acting={acting} />
    </div>
  );
}
