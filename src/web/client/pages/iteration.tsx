import type { IterationRow } from "../../../core/projections/iteration-row.ts";
import type { IterationDetail, IterationPage as Rows } from "../../api.ts";
import { withQuery } from "../api-client.ts";
import { now } from "../clock.ts";
import { dollars, duration, elapsed, fullMoment, moment, sentence, shortId } from "../format.ts";
import { progressOf } from "../overview-store.ts";
import { DiffView } from "../parts/diff-view.tsx";
import { GateList } from "../parts/gate-list.tsx";
import { Loading, Trouble } from "../parts/notices.tsx";
import { PromptView } from "../parts/prompt-view.tsx";
import { TranscriptView } from "../parts/transcript-view.tsx";
import { VerdictMark } from "../parts/verdict-mark.tsx";
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
    ["Task", row.task],
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
  const { row, explanation, gates, feedback, commit, changedPaths } = detail;
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
          {commit !== null && (
            <p class="muted">
              Commit <code>{commit.slice(0, 12)}</code>
            </p>
          )}
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
        {gates.length > 0 && <GateList gates={gates} />}
        {detail.hasPrompt && <PromptView iteration={row.iteration} />}
      </div>
      <div class="iteration-main">
        {row.files !== null && <DiffView iteration={row.iteration} changedPaths={changedPaths} />}
        {detail.textsAre === "elsewhere" && (
          <section class="panel" aria-labelledby="elsewhere-title">
            <h2 id="elsewhere-title">Transcript</h2>
            <p>Its transcript and its prompt lie on worker {row.worker}.</p>
          </section>
        )}
        {detail.transcriptBytes !== null && (
          <TranscriptView iteration={row.iteration} isRunning={isRunning} />
        )}
      </div>
    </div>
  );
}
