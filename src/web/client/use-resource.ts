import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Facts } from "../api.ts";
import { get, type Problem } from "./api-client.ts";
import { coalesce } from "./coalesce.ts";
import { onNews } from "./live.ts";

export interface Resource<T> {
  readonly value: ReadonlySignal<T | undefined>;
  readonly problem: ReadonlySignal<Problem | null>;
}

const GAP_MS = 400;

/** What the server says at this address, asked anew after facts that concern it. Null: nothing is asked. */
export function useResource<T>(path: string | null, concerns: (facts: Facts) => boolean): Resource<T> {
  const value = useSignal<T | undefined>(undefined);
  const problem = useSignal<Problem | null>(null);
  const isConcerned = useRef(concerns);
  isConcerned.current = concerns;
  useEffect(() => {
    value.value = undefined;
    problem.value = null;
    if (path === null) return undefined;
    const abort = new AbortController();
    const ask = coalesce(async () => {
      if (abort.signal.aborted) return;
      const answer = await get<T>(path, abort.signal);
      if (abort.signal.aborted) return;
      if (answer.is === "ok") value.value = answer.value;
      problem.value = answer.is === "ok" ? null : answer.problem;
    }, GAP_MS);
    ask();
    const stop = onNews((news) => {
      if (news === null || isConcerned.current(news)) ask();
    });
    return () => {
      abort.abort();
      stop();
    };
  }, [path]);
  return { value, problem };
}
