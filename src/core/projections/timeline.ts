import type { Ruling } from "../verdict/verdict.ts";
import type { Instant } from "../time.ts";

/** What happened when, in each lane of one run. */
export interface Timeline {
  readonly run: string;
  readonly from: Instant;
  /** Null: it goes on. */
  readonly to: Instant | null;
  readonly lanes: number;
  readonly spans: readonly TimeSpan[];
}

export interface TimeSpan {
  readonly is: "agent" | "gates" | "baseline" | "merge" | "wait";
  /** Null: it concerns all. */
  readonly lane: number | null;
  readonly from: Instant;
  readonly to: Instant | null;
  readonly task: string | null;
  readonly iteration: number | null;
  readonly agent: string | null;
  /** Of an agent's span, when it is judged. */
  readonly verdict: Ruling | null;
  /** One sentence: the verdict's reasons, what is waited for, which gates are red. */
  readonly says: string;
}
