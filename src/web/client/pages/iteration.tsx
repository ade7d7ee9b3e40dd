import { useId, useState } from "preact/hooks";
import type { IterationRow } from "../../../core/views/iteration-record.ts";
import type { TextPage } from "../../../core/views/overview.ts";
import type { FactsPanel as Facts, IterationDetail, IterationPage as Rows } from "../../api.ts";
import { get, type Problem, withQuery } from "../api-client.ts";
import { now, progressOf } from "../overview-store.ts";
import { bytes, dollars, duration, elapsed, fullMoment, moment, sentence, shortId } from "../format.ts";
import { DiffView } from "../parts/diff-view.tsx";
import { Loading, Trouble, VerdictMark } from "../parts/notices.tsx";
import { TranscriptView } from "../parts/transcript-view.tsx";
import { useResource } from "../use-resource.ts";

export function IterationPage({ number }: { readonly number: number }) {
  const { value, problem } = useResource<IterationDetail>(`/api/iterations/${number}`, (facts) =>
    facts.iterations.includes(number),
  );
  const detail = value.value;
  return (
    <>
      <Title number={number} row={detail?.row} />
      {problem.value !== null && <Trouble problem={problem.value} />}
      {detail === undefined && problem.value === null && <Loading />}
      {detail !== undefined && <Detail detail={detail} />}
    </>
  );
}

function Title({ number, row }: { readonly number: number; readonly row: IterationRow | undefined }) {
  const newest = useResource<Rows>(
    withQuery("/api/iterations", { limit: 1 }),
    (facts) => facts.iterations.length > 0,
  );
  const last = newest.value.value?.rows[0]?.iteration ?? number;
  return (
    <div class="title-bar">
      <p class="crumbs">
        <a href="/runs">Runs</a> <span aria-hidden="true">/</span>{" "}
        {row !== undefined && (
          <>
            <a href={`/runs/${encodeURIComponent(row.run)}`} class="run-id">
              {shortId(row.run)}
            </a>{" "}
            <span aria-hidden="true">/</span>{" "}
          </>
        )}
        <span>{number}</span>
      </p>
      <div class="title-line">
        <h1 class="page-title">
          Iteration {number} {row !== undefined && <VerdictMark verdict={row.verdict} />}
        </h1>
        <nav class="steps" aria-label="Iterations">
          <Step to={number > 1 ? number - 1 : null} label="← Previous" />
          <Step to={number < last ? number + 1 : null} label="Next →" />
        </nav>
      </div>
      {row !== undefined && <Facts row={row} />}
    </div>
  );
}

function Step({ to, label }: { readonly to: number | null; readonly label: string }) {
  return to === null ? (
    <span class="step is-none" aria-hidden="true">
      {label}
    </span>
  ) : (
    <a class="step" href={`/iterations/${to}`}>
      {label}
    </a>
  );
}

function Facts({ row }: { readonly row: IterationRow }) {
  const progress = row.durationMs === null ? progressOf(row.iteration) : undefined;
  const cost = row.costUsd ?? progress?.costUsd ?? null;
  const facts: readonly (readonly [name: string, value: string, title?: string])[] = [
    ["Stage", `${row.stage} ${row.ordinal}/${row.maxIterations}`],
    ["Agent", row.agent],
    row.worker === undefined ? ["Slot", String(row.lane)] : ["Worker", row.worker],
    ["Began", moment(row.startedAt, now.value), fullMoment(row.startedAt)],
    [
      row.durationMs === null ? "Elapsed" : "Took",
      row.durationMs === null ? elapsed(now.value - row.startedAt) : duration(row.durationMs),
    ],
    ["Cost", dollars(cost)],
    ["Files", row.files === null ? "–" : String(row.files)],
    ["Claim", row.claim ?? (row.durationMs === null ? "–" : "none")],
  ];
  return (
    <dl class="facts">
      <div class="fact">
        <dt>Task</dt>
        <dd>
          <a href={`/tasks/${encodeURIComponent(row.task)}`}>{row.task}</a>
        </dd>
      </div>
      {facts.map(([name, value, title]) => (
        <div key={name} class="fact" title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {progress !== undefined && (
        <div class="fact">
          <dt>Now</dt>
          <dd>
            {progress.lastTool ?? "thinks"} {progress.currentFile ?? ""} · {progress.toolCalls} calls
          </dd>
        </div>
      )}
    </dl>
  );
}

function Detail({ detail }: { readonly detail: IterationDetail }) {
  const { row, explanation, gates, feedback, changedPaths } = detail;
  const isRunning = row.durationMs === null;
  return (
    <div class="iteration-layout">
      <div class="iteration-side">
        <section class={`panel why is-${row.verdict ?? "running"}`} aria-labelledby="why-title">
          <h2 id="why-title">Verdict and why</h2>
          {explanation.length === 0 && <p>{isRunning ? "It is under way." : "No verdict was reached."}</p>}
          {explanation.map((line) => (
            <p key={line}>{sentence(line)}</p>
          ))}
        </section>
        {feedback.length > 0 && (
          <section class="panel" aria-labelledby="feedback-title">
            <h2 id="feedback-title">What the next prompt said</h2>
            {feedback.map((text) => (
              <pre key={text} class="feedback">
                {text}
              </pre>
            ))}
          </section>
        )}
        {detail.panels.map((panel) => (
          <FactsPanel key={panel.title} panel={panel} />
        ))}
        {gates.length > 0 && <GateList gates={gates} />}
        {detail.hasPrompt && <PromptView iteration={row.iteration} />}
      </div>
      <div class="iteration-main">
        {row.files !== null && <DiffView iteration={row.iteration} changedPaths={changedPaths} />}
        {detail.textsAre === "elsewhere" && (
          <FactsPanel panel={{ title: "Transcript", note: `On worker ${row.worker}`, items: [] }} />
        )}
        {detail.transcriptBytes !== null && (
          <TranscriptView iteration={row.iteration} isRunning={isRunning} />
        )}
      </div>
    </div>
  );
}

type Gate = IterationDetail["gates"][number];

export function GateList({ gates }: { readonly gates: readonly Gate[] }) {
  return (
    <section class="panel gates" aria-labelledby="gates-title">
      <h2 id="gates-title">Gates</h2>
      {gates.map((gate) => (
        <GateEntry key={gate.name} gate={gate} />
      ))}
    </section>
  );
}

function GateEntry({ gate }: { readonly gate: Gate }) {
  const isGood = gate.status === "passed";
  const title = (
    <>
      <VerdictMark verdict={isGood ? "accepted" : "rejected"} label={gate.name} />{" "}
      <span class="muted">
        {gate.status}
        {gate.exitCode !== null && gate.exitCode !== 0 && `, exit code ${gate.exitCode}`},{" "}
        {duration(gate.durationMs)}
      </span>
    </>
  );
  if (gate.output === "") return <p class="gate">{title}</p>;
  return (
    <details class="gate" open={!isGood}>
      <summary>{title}</summary>
      <pre tabIndex={0} aria-label={`Output of ${gate.name}`}>
        {gate.output}
      </pre>
    </details>
  );
}

const PAGE_BYTES = 64_000;

/** What the agent was told; fetched when somebody wants to see it. */
function PromptView({ iteration }: { readonly iteration: number }) {
  const [pages, setPages] = useState<readonly TextPage[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async (from: number): Promise<void> => {
    const path = withQuery(`/api/iterations/${iteration}/prompt`, { from, limit: PAGE_BYTES });
    const answer = await get<TextPage>(path);
    if (answer.is === "problem") setProblem(answer.problem);
    else setPages((known) => [...known, answer.value]);
  };
  const last = pages.at(-1);
  const left = last === undefined ? 0 : last.bytes - last.to;
  return (
    <details
      class="panel prompt"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
        if (event.currentTarget.open && pages.length === 0) void load(0);
      }}
    >
      <summary>
        <h2>Prompt</h2>
      </summary>
      {problem !== null && <Trouble problem={problem} />}
      {isOpen && problem === null && last === undefined && <Loading />}
      {last !== undefined && (
        <pre tabIndex={0} aria-label="Prompt">
          {pages.map(({ text }) => text).join("")}
        </pre>
      )}
      {last !== undefined && left > 0 && last.to > last.from && (
        <button type="button" class="quiet more" onClick={() => void load(last.to)}>
          {bytes(left)} more
        </button>
      )}
    </details>
  );
}

/** Labelled sentences, some of them with the mark of a verdict. */
export function FactsPanel({ panel: { title, note, items } }: { readonly panel: Facts }) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {note !== null && <p class="muted">{note}</p>}
      <dl class="labelled">
        {items.map(({ label, look, texts }) => (
          <div key={label}>
            <dt class="muted">{look === null ? label : <VerdictMark verdict={look} label={label} />}</dt>
            {texts.map((text) => (
              <dd key={text}>{text}</dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  );
}
