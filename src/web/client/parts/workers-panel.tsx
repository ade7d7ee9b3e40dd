import { isAtWork, workerInWords, type WorkerRow } from "../../../core/projections/workers.ts";
import { now } from "../clock.ts";
import { clockTime, count, elapsed, fullMoment } from "../format.ts";

const SIGNS = { here: "●", leaving: "◔", vanished: "✗", gone: "○" } as const;

/** Who works for the project, on which machines. */
export function WorkersPanel({ workers }: { readonly workers: readonly WorkerRow[] }) {
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
        <span aria-hidden="true">{SIGNS[is]}</span> {id}
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
