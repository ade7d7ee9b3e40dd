import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { IterationRow } from "../../core/projections/iteration-row.ts";
import type { IterationPage } from "../api.ts";
import { get, withQuery, type Problem } from "./api-client.ts";
import { coalesce } from "./coalesce.ts";
import { onNews } from "./live.ts";

export interface IterationFilter {
  readonly run: string;
  readonly task: string;
  readonly verdict: string;
}

export interface Iterations {
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
export function useIterations({ run, task, verdict }: IterationFilter): Iterations {
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
