import { isAtWork, workerInWords, type WorkerRow } from "../../../core/views/status.ts";
import { TASK_SIGNS } from "../../../core/views/signs.ts";
import { useState } from "preact/hooks";
import type { Overview, Card, Column, LaneRow } from "../../../core/views/overview.ts";
import { clockTime, count, dollars, elapsed, fullMoment, moment, sentence } from "../format.ts";
import { logLines, mayAct, now, overview, progressOf, progressOfTask } from "../overview-store.ts";
import { ActButton, ActOutcome, SteerForm } from "../parts/act-button.tsx";
import { InboxPanel } from "../parts/inbox-panel.tsx";
import { Empty, Loading } from "../parts/notices.tsx";
import { RunHeader } from "../parts/run-header.tsx";
import { RunResult, RunSummary } from "../parts/run-summary.tsx";
import { AddTask, StartPanel } from "../parts/start-panel.tsx";
import { useAct } from "../use-resource.ts";

export function BoardPage() {
  const known = overview.value;
  if (known === undefined) return <Loading />;
  const { inbox, run } = known.status;
  const hasTasks = known.board.columns.some(({ cards }) => cards.length > 0);
  const hasEnded = run?.state === "ended" && !known.isDriven;
  const mayStart = known.mayAct && !known.isDriven && known.workers === null;
  return (
    <>
      <RunHeader overview={known} />
      {hasEnded && <RunSummary overview={known} />}
      <InboxPanel items={inbox} />
      {mayStart && <StartPanel key={String(hasTasks)} isFirst={!hasTasks} />}
      {hasEnded && run !== null && <RunResult key={run.id} run={run.id} />}
      <div class="board-layout">
        <div class="board-main">
          {hasTasks ? (
            <BoardColumns overview={known} />
          ) : (
            <Empty
              title={known.status.run === null ? "Nothing has run here yet" : "The plan has no tasks"}
              command={known.hint}
            />
          )}
        </div>
        <div class="board-side">
          {known.workers !== null && <WorkersPanel workers={known.workers} />}
          <LanesPanel lanes={known.lanes} />
          <MessagesPanel overview={known} />
          {known.mayAct && known.workers === null && hasTasks && (
            <section class="panel" aria-labelledby="list-title">
              <h2 id="list-title">Task list</h2>
              <AddTask />
            </section>
          )}
          <LogTail />
        </div>
      </div>
    </>
  );
}

/** A plan may have thousands of tasks. */
const CARDS_SHOWN = 40;

/** The tasks in columns: to do, each stage, blocked, done. */
function BoardColumns({ overview }: { readonly overview: Overview }) {
  return (
    <section class="board" aria-label="Board">
      {overview.board.columns.map((column) => (
        <BoardColumn key={`${column.is} ${column.name}`} column={column} isDriven={overview.isDriven} />
      ))}
    </section>
  );
}

function BoardColumn({ column, isDriven }: { readonly column: Column; readonly isDriven: boolean }) {
  const [shown, setShown] = useState(CARDS_SHOWN);
  const cards = column.is === "done" ? column.cards.toReversed() : column.cards;
  const left = cards.length - shown;
  return (
    <section
      class={`column is-${column.is} ${cards.length === 0 ? "is-empty" : ""}`}
      aria-label={`${column.name}, ${cards.length}`}
    >
      <h2 class="column-title">
        <span aria-hidden="true">{TASK_SIGNS[column.is === "stage" ? "doing" : column.is].sign}</span>{" "}
        {column.name}
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

function LanesPanel({ lanes }: { readonly lanes: readonly LaneRow[] }) {
  if (lanes.length === 0) return null;
  return (
    <section class="panel lanes" aria-labelledby="lanes-title">
      <h2 id="lanes-title">Lanes</h2>
      <ul>
        {lanes.map((row) => (
          <li key={row.lane} class={row.work === null ? "lane is-idle" : "lane"}>
            <Lane row={row} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Lane({ row: { lane, work } }: { readonly row: LaneRow }) {
  if (work === null) return <span>Slot {lane}: idle</span>;
  const progress = progressOf(work.iteration);
  return (
    <>
      <a href={`/iterations/${work.iteration}`}>
        {work.worker ?? `Slot ${lane}`}: {work.stage} · {work.task} · iteration {work.ordinal}/
        {work.maxIterations} · {elapsed(now.value - work.startedAt)}
      </a>
      <span class="lane-doing">
        {work.says ||
          (progress === undefined
            ? `${work.agent} works`
            : `${work.agent}: ${progress.lastTool ?? "thinks"}${progress.currentFile === null ? "" : ` ${progress.currentFile}`}`)}
      </span>
    </>
  );
}

const ENTRIES_SHOWN = 20;
const STEP = 100;

/** The last things that happened, the newest last. */
function LogTail() {
  const [shown, setShown] = useState(ENTRIES_SHOWN);
  const lines = logLines.value;
  if (lines.length === 0) return null;
  return (
    <section class="panel log" aria-labelledby="log-title">
      <h2 id="log-title">
        Log
        {lines.length > shown && (
          <button type="button" class="quiet small" onClick={() => setShown(shown + STEP)}>
            Earlier
          </button>
        )}
        {shown > ENTRIES_SHOWN && (
          <button type="button" class="quiet small" onClick={() => setShown(ENTRIES_SHOWN)}>
            Last {ENTRIES_SHOWN}
          </button>
        )}
      </h2>
      <ol class="log-lines">
        {lines.slice(-shown).map(({ position, at, text }, index) => (
          <li key={`${position} ${index}`}>
            <time title={fullMoment(at)}>{clockTime(at, true)}</time> <span>{text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What the operator has said and no agent has worked from, and a field to say more. */
function MessagesPanel({ overview }: { readonly overview: Overview }) {
  const { messages } = overview.status;
  if (!overview.mayAct && messages.length === 0) return null;
  return (
    <section class="panel messages" aria-labelledby="messages-title">
      <h2 id="messages-title">Messages</h2>
      {messages.length > 0 && (
        <ul>
          {messages.map(({ id, task, text, given_at: at, state }) => (
            <li key={id}>
              <span class="muted">
                {moment(Date.parse(at), now.value)} to {task ?? "whoever is next"},{" "}
                {state === "working" ? "an agent has it" : "waits"}
              </span>
              <span class="message-text">{text}</span>
            </li>
          ))}
        </ul>
      )}
      {overview.mayAct && <SteerForm task={null} />}
    </section>
  );
}

const WORKER_SIGNS = { here: "●", leaving: "◔", vanished: "✗", gone: "○" } as const;

function WorkersPanel({ workers }: { readonly workers: readonly WorkerRow[] }) {
  const here = workers.filter(isAtWork).length;
  return (
    <section class="panel workers" aria-labelledby="workers-title">
      <h2 id="workers-title">{here === 0 ? "No worker is here" : `${count(here, "worker")} here`}</h2>
      {here === 0 && (
        <p class="muted">
          On any machine, in a clone: <code>ralph worker</code>
        </p>
      )}
      <ul>
        {workers.map((worker) => (
          <li key={worker.id} class={`worker is-${worker.is}`}>
            <Worker worker={worker} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Worker({ worker }: { readonly worker: WorkerRow }) {
  const { id, host, lanes, labels, since, seen, is } = worker;
  return (
    <>
      <span class="worker-name">
        <span aria-hidden="true">{WORKER_SIGNS[is]}</span> {id}
      </span>{" "}
      <span class="worker-place muted" title={labels.join(", ")}>
        {host} · {count(lanes, "lane")}
        {isAtWork(worker) && ` · for ${elapsed(now.value - since)}`}
      </span>
      <span class="worker-doing" title={`last heard of: ${fullMoment(seen)}`}>
        {workerInWords(worker, now.value)}
        {is === "vanished" && ` (since ${clockTime(seen)})`}
      </span>
    </>
  );
}

function TaskCard({ card, isDriven }: { readonly card: Card; readonly isDriven: boolean }) {
  const isRunning = card.lane !== null;
  const iteration = overview.value?.lanes.find(({ work }) => work?.task === card.id)?.work?.iteration;
  return (
    <article
      class={`card is-${card.status} ${isRunning ? "is-live" : ""}`}
      aria-label={`${card.id}: ${card.title}`}
    >
      <p class="card-top">
        <span class="card-sign" aria-hidden="true">
          {TASK_SIGNS[card.status].sign}
        </span>
        <a class="card-id" href={`/tasks/${encodeURIComponent(card.id)}`}>
          {card.id}
        </a>
        {card.loop !== null && <span class="card-loop">{card.loop}</span>}
      </p>
      <h3 class="card-title">
        <a href={`/tasks/${encodeURIComponent(card.id)}`}>{card.title}</a>
      </h3>
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
