import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { IterationRow } from "../../../core/views/iteration-record.ts";
import { RULINGS } from "../../../core/verdict/verdict.ts";
import type { IterationPage } from "../../api.ts";
import { get, type Problem, withQuery } from "../api-client.ts";
import { clockTime, count, dollars, duration, elapsed, fullMoment, sentence } from "../format.ts";
import { coalesce, now, onNews, overview } from "../overview-store.ts";
import { navigate, parameters, setParameter } from "../router.ts";
import { VERDICT_SIGNS } from "../../../core/views/signs.ts";
import { Empty, Loading, Trouble, VerdictMark } from "./notices.tsx";
import { VirtualRows } from "./virtual-rows.tsx";

const WIDE_ROW_PX = 36;
const NARROW_ROW_PX = 66;

export function IterationList({ run }: { readonly run: string }) {
  const task = parameters.value.get("task") ?? "";
  const verdict = parameters.value.get("verdict") ?? "";
  const iterations = useIterations({ run, task, verdict });
  const rowPx = useRowPx();
  const rows = iterations.rows.value;
  const total = iterations.total.value;
  return (
    <section class="iterations" aria-labelledby="iterations-title">
      <div class="list-bar">
        <h2 id="iterations-title">
          Iterations {total !== null && <span class="muted">{total.toLocaleString("en")}</span>}
        </h2>
        <Filters task={task} verdict={verdict} />
      </div>
      {iterations.problem.value !== null && <Trouble problem={iterations.problem.value} />}
      {total === null && iterations.problem.value === null && <Loading />}
      {total === 0 && (
        <Empty title={task === "" && verdict === "" ? "No iteration yet" : "No iteration is like that"} />
      )}
      {total !== null && total > 0 && (
        <div class="grid" role="table" aria-label="Iterations" aria-rowcount={total + 1}>
          <div class="grid-head" role="rowgroup">
            <div class="grid-row" role="row" aria-rowindex={1}>
              {["", "Verdict", "Task", "Stage", "Why", "Files", "Took", "Cost", "Began"].map(
                (name, index) => (
                  <span key={name} role="columnheader">
                    {index === 0 ? "#" : name}
                  </span>
                ),
              )}
            </div>
          </div>
          <VirtualRows
            class="grid-body"
            role="rowgroup"
            count={total}
            rowPx={rowPx}
            label="Iterations, the newest first"
            onRange={(_, last) => iterations.want(last)}
            render={(index) => (
              <Row key={rows[index]?.iteration ?? `-${index}`} row={rows[index]} index={index} />
            )}
          />
        </div>
      )}
    </section>
  );
}

function Row({ row, index }: { readonly row: IterationRow | undefined; readonly index: number }) {
  if (row === undefined) {
    return (
      <div class="grid-row is-missing" role="row" aria-rowindex={index + 2}>
        <span role="cell">…</span>
      </div>
    );
  }
  const href = `/iterations/${row.iteration}`;
  const took = row.durationMs === null ? elapsed(now.value - row.startedAt) : duration(row.durationMs);
  return (
    <div
      class="grid-row"
      role="row"
      aria-rowindex={index + 2}
      onClick={(event) => {
        if (!event.defaultPrevented && !(event.target instanceof HTMLAnchorElement)) navigate(href);
      }}
    >
      <span role="cell" class="cell-number">
        <a href={href} aria-label={`Iteration ${row.iteration}`}>
          {row.iteration}
        </a>
      </span>
      <span role="cell" class="cell-verdict">
        <VerdictMark verdict={row.verdict} />
      </span>
      <span role="cell" class="cell-task">
        <a href={`/tasks/${encodeURIComponent(row.task)}`}>{row.task}</a>
      </span>
      <span role="cell" class="cell-stage muted">
        {row.stage} {row.ordinal}/{row.maxIterations}
      </span>
      <span role="cell" class="cell-why" title={row.why ?? undefined}>
        {row.why === null ? "" : sentence(row.why)}
      </span>
      <span role="cell" class="cell-files number">
        {row.files === null ? "–" : row.files}
      </span>
      <span role="cell" class="cell-took number">
        {took}
      </span>
      <span role="cell" class="cell-cost number">
        {dollars(row.costUsd)}
      </span>
      <span role="cell" class="cell-began number muted" title={fullMoment(row.startedAt)}>
        {clockTime(row.startedAt)}
      </span>
    </div>
  );
}

function Filters({ task, verdict }: { readonly task: string; readonly verdict: string }) {
  const tasks = overview.value?.status.tasks.map(({ id }) => id) ?? [];
  const known = task === "" || tasks.includes(task) ? tasks : [task, ...tasks];
  return (
    <div class="filters" role="group" aria-label="Filter">
      <label>
        <span>Task</span>
        <select
          data-search
          value={task}
          onChange={(event) => setParameter("task", event.currentTarget.value)}
        >
          <option value="">all {count(known.length, "task")}</option>
          {known.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Verdict</span>
        <select value={verdict} onChange={(event) => setParameter("verdict", event.currentTarget.value)}>
          <option value="">all</option>
          {RULINGS.map((one) => (
            <option key={one} value={one}>
              {VERDICT_SIGNS[one].sign} {one}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** As the style sheet has it: one line, or three on a phone. */
function useRowPx(): number {
  const [rowPx, setRowPx] = useState(WIDE_ROW_PX);
  useLayoutEffect(() => {
    const narrow = matchMedia("(width < 48rem)");
    const look = (): void => setRowPx(narrow.matches ? NARROW_ROW_PX : WIDE_ROW_PX);
    narrow.addEventListener("change", look);
    look();
    return () => narrow.removeEventListener("change", look);
  }, []);
  return rowPx;
}

interface Iterations {
  /** The newest first, as far as they are loaded. */
  readonly rows: ReadonlySignal<readonly IterationRow[]>;
  /** Of all that match; null until it is known. */
  readonly total: ReadonlySignal<number | null>;
  readonly problem: ReadonlySignal<Problem | null>;
  /** Loads on until so many are there. */
  want(count: number): void;
}

const PAGE = 500;
const NEWEST = 100;
const GAP_MS = 400;

/** The iterations of a run, loaded in pages as they come into sight and kept up to date. */
function useIterations({
  run,
  task,
  verdict,
}: {
  readonly run: string;
  readonly task: string;
  readonly verdict: string;
}): Iterations {
  const rows = useSignal<readonly IterationRow[]>([]);
  const total = useSignal<number | null>(null);
  const problem = useSignal<Problem | null>(null);
  const want = useRef<(count: number) => void>(() => undefined);
  useEffect(() => {
    rows.value = [];
    total.value = null;
    const abort = new AbortController();
    const load = async (before: number | null, limit: number): Promise<void> => {
      const path = withQuery("/api/iterations", { run, task, verdict, before, limit });
      const answer = await get<IterationPage>(path, abort.signal);
      if (abort.signal.aborted) return;
      problem.value = answer.is === "problem" ? answer.problem : null;
      if (answer.is === "problem") return;
      total.value = answer.value.total;
      rows.value = merged(rows.value, answer.value.rows, before);
    };
    let wanted = PAGE;
    let isBusy = false;
    const loadOn = async (): Promise<void> => {
      if (isBusy) return;
      isBusy = true;
      while (!abort.signal.aborted && rows.value.length < Math.min(wanted, total.value ?? wanted)) {
        const had = rows.value.length;
        await load(rows.value.at(-1)?.iteration ?? null, PAGE);
        if (rows.value.length === had) break;
      }
      isBusy = false;
    };
    want.current = (count) => {
      wanted = Math.max(wanted, count);
      void loadOn();
    };
    const refresh = coalesce(() => load(null, NEWEST), GAP_MS);
    void loadOn();
    const stop = onNews((news) => {
      if (news === null || news.iterations.length > 0) refresh();
    });
    return () => {
      abort.abort();
      stop();
    };
  }, [run, task, verdict]);
  return { rows, total, problem, want: (count) => want.current(count) };
}

/** What the server just told replaces what was known of the same part of the list. */
function merged(
  known: readonly IterationRow[],
  page: readonly IterationRow[],
  before: number | null,
): readonly IterationRow[] {
  if (before !== null) return [...known.filter(({ iteration }) => iteration >= before), ...page];
  const last = page.at(-1);
  if (last === undefined) return page;
  return [...page, ...known.filter(({ iteration }) => iteration < last.iteration)];
}
