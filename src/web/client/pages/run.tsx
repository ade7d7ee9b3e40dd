import type { RunEntry } from "../../../core/projections/run-list.ts";
import type { Timeline } from "../../../core/projections/timeline.ts";
import { withQuery } from "../api-client.ts";
import { now } from "../clock.ts";
import { count, dollars, elapsed, fullMoment, moment, shortId } from "../format.ts";
import { IterationList } from "../parts/iteration-list.tsx";
import { Empty, Loading, Trouble } from "../parts/notices.tsx";
import { TimelineView } from "../parts/timeline-view.tsx";
import { useResource } from "../use-resource.ts";
import { isCurrent, Outcome } from "./runs.tsx";

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
