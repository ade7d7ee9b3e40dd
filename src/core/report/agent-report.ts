import type { Instant } from "../time.ts";
import type { Signals } from "./signals.ts";

/** What came back from one agent process: how it ended, what it said, what it cost. */
export interface AgentReport {
  readonly ending: Ending;
  readonly claim: Claim;
  readonly failure: Failure | null;
  readonly transcript: Transcript;
  readonly usage: Usage;
  readonly durationMs: number;
  /** The last words of the agent, bounded, for people and feedback. */
  readonly finalText: string;
  readonly toolCalls: number;
  /** Leftover processes that the sweep had to end. */
  readonly sweptProcesses: number;
  /** The text of the promise that counts, whether or not it is the expected one. */
  readonly promise?: string | null;
  /** Whose tokens it used, where it says so. */
  readonly model?: string | null;
  /** By which its session can be resumed. */
  readonly sessionId?: string | null;
  /** By its tools, as those tell: without denied and failed writes, the first of very many. */
  readonly filesWritten?: readonly string[];
  /** Events of its stream that we do not know: its format may have changed. */
  readonly unknownEvents?: number;
  /** What its words say besides the claim; missing when nobody read them. */
  readonly signals?: Signals;
}

/** Why the process is gone. `interrupted` is written by recovery: nobody saw the end. */
export type Ending =
  | { readonly is: "exited"; readonly code: number }
  | { readonly is: "signalled"; readonly signal: string }
  | { readonly is: "timed-out"; readonly afterMs: number }
  /** Ended by us after so long without a sign of life. */
  | { readonly is: "idle"; readonly afterMs: number }
  | { readonly is: "stopped" }
  | { readonly is: "not-started"; readonly message: string }
  | { readonly is: "interrupted" };

/** What the agent says of its work; never trusted. */
export type Claim =
  /** In the agent's words: the promise, or the line of the status block that says it. */
  | { readonly is: "complete"; readonly promise: string }
  | { readonly is: "blocked"; readonly reason: string }
  | {
      readonly is: "undecided";
      readonly question: string;
      readonly options: readonly string[];
      /** Taken when the deadline passes without an answer. */
      readonly default?: string | null;
      /** From the asking. */
      readonly deadlineMs?: number | null;
    }
  | { readonly is: "unfinished" }
  | { readonly is: "none" };

/** Only `agent` costs an attempt. */
export type FailureClass = "agent" | "transient" | "limit" | "auth" | "config" | "internal";

export interface Failure {
  readonly class: FailureClass;
  readonly message: string;
  /** Of a limit: when it ends; null or missing when nobody says. */
  readonly resetsAt?: Instant | null;
}

export interface Transcript {
  /** Relative to `.ralph/`. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Unknown numbers are null, never 0. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly costUsd: number | null;
}

export const UNKNOWN_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  costUsd: null,
};
