import type { RunEntry } from "../../../core/views/run-list.ts";
import type { Timeline } from "../../../core/views/timeline.ts";
import { capital } from "../../../core/text.ts";
import { withQuery } from "../api-client.ts";
import { count, dollars, elapsed, fullMoment, moment, sentence, shortId } from "../format.ts";
import { now, overview } from "../overview-store.ts";
import { IterationList } from "../parts/iteration-list.tsx";
import { Empty, Loading, Trouble, VerdictMark } from "../parts/notices.tsx";
import { TimelineView } from "../parts/timeline-view.tsx";
import { navigate } from "../router.ts";
import { useResource } from "../use-resource.ts";

export function RunsPage() {
  const { value, problem } = useResource<readonly RunEntry[]>("/api/runs", () => true);
  const runs = value.value;
  return (
    <>
      <h1 class="page-title">Runs</h1>
      {problem.value !== null && <Trouble problem={problem.value} />}
      {runs === undefined && problem.value === null && <Loading />}
      {runs?.length === 0 && <Empty title="Nothing has run here yet" command="ralph run" />}
      {runs !== undefined && runs.length > 0 && <RunsTable runs={runs} />}
    </>
  );
}

function RunsTable({ runs }: { readonly runs: readonly RunEntry[] }) {
  return (
    <div class="table-frame">
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Outcome</th>
            {Object.keys(NUMBERS).map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
            <th scope="col">Agent</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const NUMBERS: Readonly<Record<string, (run: RunEntry) => number | string>> = {
  Took: (run) =>
    run.endedAt === null && run.outcome === null && !isCurrent(run)
      ? "–"
      : elapsed((run.endedAt ?? now.value) - run.startedAt),
  Iterations: (run) => run.iterations,
  Accepted: (run) => run.accepted,
  Cost: (run) => dollars(run.costUsd),
};

function RunRow({ run }: { readonly run: RunEntry }) {
  const href = `/runs/${encodeURIComponent(run.id)}`;
  return (
    <tr
      onClick={(event) => {
        if (!(event.target instanceof Element && event.target.closest("a") !== null)) navigate(href);
      }}
    >
      <td data-label="Run">
        <a href={href} title={fullMoment(run.startedAt)}>
          {moment(run.startedAt, now.value)}
        </a>{" "}
        <span class="muted run-id">{shortId(run.id)}</span>
      </td>
      <td data-label="Outcome" class="run-outcome">
        <Outcome run={run} />
      </td>
      {Object.entries(NUMBERS).map(([name, valueOf]) => (
        <td key={name} data-label={name} class="number">
          {valueOf(run)}
        </td>
      ))}
      <td data-label="Agent">
        {run.agent}
        {run.lanes > 1 && <span class="muted"> ×{run.lanes}</span>}
      </td>
    </tr>
  );
}

/** Whether it goes on right now; an open one that does not was interrupted. */
export function isCurrent(run: RunEntry): boolean {
  const known = overview.value;
  return known !== undefined && known.isDriven && known.status.run?.id === run.id;
}

function Outcome({ run }: { readonly run: RunEntry }) {
  if (run.outcome === null) {
    return isCurrent(run) ? (
      <VerdictMark verdict={null} />
    ) : (
      <VerdictMark verdict="failed" label="interrupted" />
    );
  }
  const isGood = run.outcome === "completed";
  return (
    <>
      <VerdictMark verdict={isGood ? "accepted" : "rejected"} label={capital(run.outcome)} />{" "}
      {run.reason !== null && <span class="muted">{sentence(run.reason)}</span>}
    </>
  );
}

export function RunPage({ id }: { readonly id: string }) {
  const timeline = useResource<Timeline | null>(
    withQuery("/api/timeline", { run: id }),
    (): boolean => timeline.value.value?.to == null,
  );
  const runs = useResource<readonly RunEntry[]>("/api/runs", () => true);
  const run = runs.value.value?.find((one) => one.id === id);
  const known = timeline.value.value;
  return (
    <>
      <RunTitle id={id} run={run} />
      {timeline.problem.value !== null && <Trouble problem={timeline.problem.value} />}
      {known === undefined && timeline.problem.value === null && <Loading />}
      {known === null && <Empty title="There is no such run">The list of runs has them all.</Empty>}
      {known != null && <TimelineView timeline={known} isOn={run === undefined || isCurrent(run)} />}
      {known !== null && <IterationList run={id} />}
    </>
  );
}

function RunTitle({ id, run }: { readonly id: string; readonly run: RunEntry | undefined }) {
  return (
    <div class="title-bar">
      <p class="crumbs">
        <a href="/runs">Runs</a> <span aria-hidden="true">/</span> <span class="run-id">{shortId(id)}</span>
      </p>
      <h1 class="page-title">
        {run === undefined ? (
          "Run"
        ) : (
          <span title={fullMoment(run.startedAt)}>Run of {moment(run.startedAt, now.value)}</span>
        )}
      </h1>
      {run !== undefined && (
        <p class="run-facts">
          <Outcome run={run} />
          {(run.endedAt !== null || isCurrent(run)) && (
            <span>{elapsed((run.endedAt ?? now.value) - run.startedAt)}</span>
          )}
          <span>{count(run.iterations, "iteration")}</span>
          <span>{run.accepted} accepted</span>
          <span>{dollars(run.costUsd)}</span>
          <span>
            {run.agent}
            {run.lanes > 1 && ` in ${run.lanes} lanes`}
          </span>
          <span class="muted">{run.source}</span>
          <a href={withQuery("/charts", { run: id })}>Charts</a>
        </p>
      )}
    </div>
  );
}
