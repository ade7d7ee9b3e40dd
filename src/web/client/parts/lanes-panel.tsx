import type { LaneRow } from "../../../core/projections/lane-rows.ts";
import { now } from "../clock.ts";
import { elapsed } from "../format.ts";
import { progressOf } from "../overview-store.ts";

const DOING = {
  agent: null,
  evidence: "reading its changes",
  gates: "running the gates",
  verdict: "judging",
} as const;

/** Who works where right now. */
export function LanesPanel({ lanes }: { readonly lanes: readonly LaneRow[] }) {
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
  const doing = DOING[work.doing];
  return (
    <>
      <a href={`/iterations/${work.iteration}`}>
        {work.worker ?? `Slot ${lane}`}: {work.stage} · {work.task} · iteration {work.ordinal}/
        {work.maxIterations} · {elapsed(now.value - work.startedAt)}
      </a>
      <span class="lane-doing">
        {doing ??
          (progress === undefined
            ? `${work.agent} works`
            : `${work.agent}: ${progress.lastTool ?? "thinks"}${progress.currentFile === null ? "" : ` ${progress.currentFile}`}`)}
      </span>
    </>
  );
}
