import type { Overview } from "../../../core/views/overview.ts";
import type { Timeline } from "../../../core/views/timeline.ts";
import type { DiffPage } from "../../api.ts";
import { withQuery } from "../api-client.ts";
import { count, dollars, duration } from "../format.ts";
import { useResource } from "../use-resource.ts";
import { ChangedFiles } from "./diff-view.tsx";
import { Trouble } from "./notices.tsx";
import { TimelineView } from "./timeline-view.tsx";

const WAITING = [
  ["decide", "asks", "ask"],
  ["review", "waits for your approval", "wait for your approval"],
  ["blocked", "blocked", "blocked"],
] as const;

/** The morning after: `9 done · 1 asks · 1 blocked · 6h 12m · $14.20`. */
export function RunSummary({ overview: { status } }: { readonly overview: Overview }) {
  const { run, tasks, inbox, cost } = status;
  if (run === null) return null;
  const done = tasks.filter((task) => task.status === "done").length;
  const left = tasks.filter((task) => task.status === "todo" || task.status === "doing").length;
  const waiting = WAITING.flatMap(([kind, one, many]) => {
    const amount = inbox.filter((item) => item.kind === kind).length;
    return amount === 0 ? [] : [`${amount} ${amount === 1 ? one : many}`];
  });
  const parts = [
    `${done} done`,
    ...waiting,
    ...(left === 0 ? [] : [`${left} to do`]),
    ...(run.ended_at === null ? [] : [duration(Date.parse(run.ended_at) - Date.parse(run.started_at))]),
    ...(cost.usd === null ? [] : [dollars(cost.usd)]),
  ];
  return <p class="run-summary">{parts.join(" · ")}</p>;
}

/** What the run has brought to the branch, and what happened when. */
export function RunResult({ run }: { readonly run: string }) {
  const path = `/api/runs/${encodeURIComponent(run)}/diff`;
  const diff = useResource<DiffPage>(path, ({ types }) => types.some((type) => type.startsWith("task.")));
  const timeline = useResource<Timeline | null>(withQuery("/api/timeline", { run }), () => false);
  const { files = [], more = 0 } = diff.value.value ?? {};
  return (
    <div class="run-result">
      <details class="panel diff" open={files.length > 0 && files.length + more <= FILES_OPEN}>
        <summary>
          What this run changed <span class="muted">{count(files.length + more, "file")}</span>
        </summary>
        {diff.problem.value !== null && <Trouble problem={diff.problem.value} />}
        <ChangedFiles files={files} more={more} />
      </details>
      {timeline.value.value != null && <TimelineView timeline={timeline.value.value} isOn={false} />}
    </div>
  );
}

const FILES_OPEN = 8;
