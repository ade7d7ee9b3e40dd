import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Facts, PageAct } from "../api.ts";
import { get, type Problem } from "./api-client.ts";
import { coalesce, onNews } from "./overview-store.ts";
import { inWords, type Outcome, send, toast } from "./toasts.tsx";

interface Resource<T> {
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

/** What became of the last thing that a person did here. */
export interface Acting {
  readonly isBusy: boolean;
  /** What can still be taken back, in words. */
  readonly pending: string | null;
  readonly outcome: Outcome | null;
  /** True when it is done. */
  run(what: PageAct): Promise<boolean>;
}

export function useAct(): Acting {
  const [isBusy, setBusy] = useState(false);
  const [pending, setPending] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<Acting["outcome"]>(null);
  const isThere = useRef(true);
  useEffect(
    () => () => {
      isThere.current = false;
    },
    [],
  );
  const run = async (what: PageAct): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setOutcome(null);
    setPending(inWords(what));
    const became = await send(what);
    setBusy(false);
    setPending(null);
    setOutcome(became);
    // Nobody sees it in its place any more.
    if (became?.isGood === false && !isThere.current) toast(became.text, false);
    return became?.isGood === true;
  };
  return { isBusy, pending, outcome, run };
}
