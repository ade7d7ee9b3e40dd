import type { Instant } from "../time.ts";
import type { Review } from "../verdict/reader.ts";
import type { AnalyzerAnswer } from "../verdict/plugin-answers.ts";

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
  /** By a command, or a tool that we do not know, it may have written others; missing: nobody can tell. */
  readonly ranCommands?: boolean;
  /** Tools that it was not permitted to use, by their names; missing: none, or nobody can tell. */
  readonly denied?: readonly string[];
  /** Events of its stream that we do not know: its format may have changed. */
  readonly unknownEvents?: number;
  /** What its words say besides the claim; missing when nobody read them. */
  readonly signals?: Signals;
  /** Of a second reader: what it found; missing when it cannot be read. */
  readonly review?: Review;
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

/** Somebody else ended it: it says nothing about the agent. */
export function wasCutOff({ ending }: Pick<AgentReport, "ending">): boolean {
  return ending.is === "interrupted" || ending.is === "stopped";
}

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
  /** All of it was there before the task began; never accepted by itself. */
  | { readonly is: "already-done"; readonly reason: string }
  | { readonly is: "unfinished" }
  | { readonly is: "none" };

/** As scripts read it. */
export function claimName({ is }: Claim): Exclude<Claim["is"], "already-done"> | "already_done" {
  return is === "already-done" ? "already_done" : is;
}

/** What an iteration leaves to the next one of its task. */
export interface Handover {
  /** What interrupted it; null: nothing did. */
  readonly cutOff: string | null;
  /** The end of what its agent said last, where that may say what is left. */
  readonly words: string;
}

const WORDS_KEPT = 1_000;
const PROMISE = /<promise>[^<]*<\/promise>/g;

/** A claim says that nothing is left, and the last words of an agent that broke down are an error. */
export function readHandover(
  { ending, failure, claim, finalText }: AgentReport,
  before: Handover | null,
): Handover {
  const ended = { stopped: "the run was stopped", interrupted: "Ralph was killed" } as const;
  const isOthers = failure !== null && failure.class !== "agent";
  const cutOff =
    ending.is === "stopped" || ending.is === "interrupted"
      ? ended[ending.is]
      : isOthers
        ? failure.message.slice(0, 200)
        : null;
  const isBroken = failure !== null && !isOthers && failure.kind !== "turns" && ending.is === "exited";
  const isOpen = claim.is === "none" || claim.is === "unfinished";
  const text = isOpen && !isBroken ? finalText.replaceAll(PROMISE, "").trim() : "";
  const end = text.slice(-WORDS_KEPT);
  const words = end === text ? text : `…${end.slice(Math.max(0, end.indexOf("\n")))}`;
  // One that was interrupted before it said anything leaves what was left before.
  const isSilent = cutOff !== null && words === "";
  return { cutOff, words: isSilent ? (before?.words ?? "") : words.toWellFormed() };
}

/** Only `agent` costs an attempt. */
export type FailureClass = "agent" | "transient" | "limit" | "auth" | "config" | "internal";

export interface Failure {
  readonly class: FailureClass;
  readonly message: string;
  /** Of a limit: when it ends; null or missing when nobody says. */
  readonly resetsAt?: Instant | null;
  readonly kind?: FailureKind;
  /** What a person has to do about it. */
  readonly advice?: string;
}

/**
 * What exactly it was, where that changes what comes next. Of the agent: its context was full, an answer hit the
 * model's output limit, its model refused, it said nothing, it came to its own limit of turns, or it was stopped
 * because it had used up a budget. Of a service: there is no credit left, or it does not know the model.
 */
export type FailureKind =
  "overflow" | "length" | "refusal" | "empty" | "turns" | "budget" | "credit" | "model";

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

/** What an agent's words say besides the claim. None of it is trusted. */
export interface Signals {
  /** 0–100: 100 for a claim in one of the agreed forms, less for words that only sound like completion. */
  readonly confidence: number;
  readonly isTestOnly: boolean;
  readonly isStuck: boolean;
  /** The expected promise stands where it does not count: in a code fence, a quotation, a comment, or decorated. */
  readonly isPromiseHidden: boolean;
  readonly contradictions: readonly string[];
  readonly citations: readonly string[];
  /** What it answers to concerns and findings that the prompt numbers; missing in old logs. */
  readonly answers?: readonly Answer[];
  /** The last error without what differs from time to time; the same for the same error. */
  readonly errorSignature: string | null;
  readonly statusBlock: StatusBlock | null;
  /** From the status block, else from a bare line. */
  readonly exitSignal: boolean | null;
  readonly workType: WorkType | null;
  readonly testsStatus: TestsStatus | null;
  /** What analyzers of plugins said; the rest has it in it already. */
  readonly analyzers?: readonly AnalyzerAnswer[];
}

/** `Concern 1: …` or `Finding 2: …`. */
export interface Answer {
  readonly about: "concern" | "finding";
  readonly number: number;
  readonly text: string;
}

export interface SignalReport {
  readonly claim: Claim;
  readonly signals: Signals;
  /** The text of the promise that counts, whether or not it is the expected one. */
  readonly promise: string | null;
  readonly promiseMatches: boolean;
  /** The end of what the agent said, bounded. */
  readonly finalText: string;
}

export type BlockStatus = "COMPLETE" | "IN_PROGRESS" | "BLOCKED";
export type TestsStatus = "PASSING" | "FAILING" | "NOT_RUN";
export type WorkType = "IMPLEMENTATION" | "TESTING" | "DOCUMENTATION" | "REFACTORING";

/** A status block as written; a field that is missing or makes no sense is null. */
export interface StatusBlock {
  readonly status: BlockStatus | null;
  readonly tasksCompleted: number | null;
  readonly filesModified: number | null;
  readonly testsStatus: TestsStatus | null;
  readonly workType: WorkType | null;
  readonly exitSignal: boolean | null;
  readonly recommendation: string | null;
  /** Lines with a field or a value that we do not know. */
  readonly unknownFields: readonly string[];
  readonly missingFields: readonly string[];
}

/** What only one of them knows is what is known. */
export function usageWith(one: Usage, other: Usage): Usage {
  return combined(one, other, (a, b) => (a === null ? b : a + (b ?? 0)));
}

/** What is left of a total when an earlier part is taken out; what nobody knows stays unknown. */
export function usageWithout(total: Usage, part: Usage): Usage {
  return combined(total, part, (a, b) => (a === null ? null : Math.max(0, a - (b ?? 0))));
}

/** Each number of them; what only one of them knows is left to `combine`. */
export function combined(
  one: Usage,
  other: Usage,
  combine: (a: number | null, b: number | null) => number | null,
): Usage {
  const names = Object.keys(UNKNOWN_USAGE) as (keyof Usage)[];
  const entries = names.map((name) => [name, combine(one[name], other[name])]);
  return Object.fromEntries(entries) as Record<keyof Usage, number | null>;
}

/** The folder that an iteration's agent side and we share: the variable that names it, and the files in it. */
export const ITERATION_FILES = {
  variable: "RALPH_ITERATION_DIR",
  task: "task.json",
  reports: "reports.jsonl",
} as const;
