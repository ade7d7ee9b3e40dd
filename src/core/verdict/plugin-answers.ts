import type { AgentReport, Claim, Signals } from "../streams/agent-report.ts";

/** What plugins said about the work of one iteration. A fact: nobody asks them again when the log is read. */
export interface PluginAnswers {
  readonly guards: readonly GuardAnswer[];
  /** Of open-ended tasks. */
  readonly exits: readonly ExitAnswer[];
}

export interface GuardAnswer {
  /** PLUGIN/GUARD. */
  readonly guard: string;
  readonly on: "claim" | "work";
  readonly warns: boolean;
  readonly advice: string | null;
  readonly objections: readonly string[];
  /** Why it could not answer: a claim is then neither accepted nor held against the agent. */
  readonly failure: string | null;
}

export interface ExitAnswer {
  /** PLUGIN/RULE. */
  readonly rule: string;
  readonly ends: "complete" | "failed";
  readonly because: string;
}

/** What an analyzer takes the agent's words for. */
export interface AnalyzerSignal {
  /**
   * `complete` and `blocked` count as the agent's claim from a confidence of 75 on, where it makes none itself; `doubt`
   * speaks against a claim of completion; `test-only` and `stuck` say what kind of iteration it was.
   */
  readonly says: "complete" | "blocked" | "doubt" | "test-only" | "stuck";
  /** 0–100. */
  readonly confidence: number;
  /** In a sentence, for people and for the agent. */
  readonly because?: string;
}

/** One of them, and who said it. */
export interface AnalyzerAnswer extends AnalyzerSignal {
  readonly analyzer: string;
}

/** From here on a signal is more than a hint. */
export const COUNTS_FROM = 75;

/** The report with what analyzers made of it. None of them accepts anything: a claim is checked as any other. */
export function withAnalyzers(report: AgentReport, answers: readonly AnalyzerAnswer[]): AgentReport {
  const { signals } = report;
  if (signals === undefined || answers.length === 0) return report;
  const claim = claimWith(report, answers);
  return { ...report, claim, signals: { ...signalsWith(signals, claim, answers), analyzers: answers } };
}

function claimWith({ claim, failure }: AgentReport, answers: readonly AnalyzerAnswer[]): Claim {
  if (claim.is !== "none" || failure !== null) return claim;
  const strong = answers.filter(({ confidence }) => confidence >= COUNTS_FROM);
  const blocked = strong.find(({ says }) => says === "blocked");
  if (blocked !== undefined) return { is: "blocked", reason: inWords(blocked) };
  const complete = strong.find(({ says }) => says === "complete");
  return complete === undefined ? claim : { is: "complete", promise: inWords(complete) };
}

function signalsWith(signals: Signals, claim: Claim, answers: readonly AnalyzerAnswer[]): Signals {
  const most = (says: AnalyzerSignal["says"]): number =>
    Math.max(0, ...answers.filter((one) => one.says === says).map(({ confidence }) => confidence));
  const doubts = answers.filter(({ says, confidence }) => says === "doubt" && confidence >= COUNTS_FROM);
  const sure = Math.max(
    signals.confidence,
    claim.is === "none" || claim.is === "complete" ? most("complete") : 0,
  );
  return {
    ...signals,
    confidence: Math.min(sure, 100 - most("doubt")),
    isTestOnly: signals.isTestOnly || most("test-only") >= COUNTS_FROM,
    isStuck: signals.isStuck || most("stuck") >= COUNTS_FROM,
    contradictions: [...signals.contradictions, ...doubts.map(inWords)],
  };
}

function inWords({ analyzer, because }: AnalyzerAnswer): string {
  return because === undefined ? `the analyzer ${analyzer} says so` : `${because} (${analyzer})`;
}
