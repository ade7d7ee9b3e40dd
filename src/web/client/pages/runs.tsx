import type { RunEntry } from "../../../core/projections/run-list.ts";
import { now } from "../clock.ts";
import { capital, dollars, elapsed, fullMoment, moment, sentence, shortId } from "../format.ts";
import { overview } from "../overview-store.ts";
import { Empty, Loading, Trouble } from "../parts/notices.tsx";
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
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col" class="number">
              Iterations
            </th>
            <th scope="col" class="number">
              Accepted
            </th>
            <th scope="col" class="number">
              Cost
            </th>
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

function RunRow({ run }: { readonly run: RunEntry }) {
  const href = `/runs/${encodeURIComponent(run.id)}`;
  const took = (run.endedAt ?? now.value) - run.startedAt;
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
      <td data-label="Took" class="number">
        {run.endedAt === null && run.outcome === null && !isCurrent(run) ? "–" : elapsed(took)}
      </td>
      <td data-label="Iterations" class="number">
        {run.iterations}
      </td>
      <td data-label="Accepted" class="number">
        {run.accepted}
      </td>
      <td data-label="Cost" class="number">
        {dollars(run.costUsd)}
      </td>
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

/** How a run ended, or that it goes on. */
export function Outcome({ run }: { readonly run: RunEntry }) {
  if (run.outcome === null) {
    return isCurrent(run) ? (
      <span class="verdict is-running">
        <span class="verdict-symbol" aria-hidden="true">
          ▸
        </span>
        running
      </span>
    ) : (
      <span class="verdict is-failed">
        <span class="verdict-symbol" aria-hidden="true">
          !
        </span>
        interrupted
      </span>
    );
  }
  const isGood = run.outcome === "completed";
  return (
    <>
      <span class={`verdict is-${isGood ? "accepted" : "rejected"}`}>
        <span class="verdict-symbol" aria-hidden="true">
          {isGood ? "✔" : "✗"}
        </span>
        {capital(run.outcome)}
      </span>{" "}
      {run.reason !== null && <span class="muted">{sentence(run.reason)}</span>}
    </>
  );
}
