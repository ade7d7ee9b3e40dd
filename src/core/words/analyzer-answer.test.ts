import { describe, expect, test } from "vitest";
import { UNKNOWN_USAGE, type AgentReport, type Claim } from "../streams/agent-report.ts";
import { withAnalyzers, type AnalyzerAnswer } from "../verdict/plugin-answers.ts";

const NONE: Claim = { is: "none" };
const COMPLETE: Claim = { is: "complete", promise: "COMPLETE" };

function report(claim: Claim, confidence: number): AgentReport {
  return {
    ending: { is: "exited", code: 0 },
    claim,
    failure: null,
    transcript: { path: "logs/iteration-001.log", bytes: 0, sha256: "" },
    usage: UNKNOWN_USAGE,
    durationMs: 0,
    finalText: "",
    toolCalls: 0,
    sweptProcesses: 0,
    signals: {
      confidence,
      isTestOnly: false,
      isStuck: false,
      isPromiseHidden: false,
      contradictions: [],
      citations: [],
      errorSignature: null,
      statusBlock: null,
      exitSignal: null,
      workType: null,
      testsStatus: null,
    },
  };
}

function answer(says: AnalyzerAnswer["says"], confidence: number, because?: string): AnalyzerAnswer {
  return { analyzer: "mine/words", says, confidence, ...(because !== undefined && { because }) };
}

describe("what analyzers make of an agent's words", () => {
  test("makes a claim where there is none, if they are sure enough", () => {
    const said = answer("complete", 75, "it says so");
    expect(withAnalyzers(report(NONE, 0), [said])).toMatchObject({
      claim: { is: "complete", promise: "it says so (mine/words)" },
      signals: { confidence: 75, analyzers: [said] },
    });
  });

  test("is only a hint below that", () => {
    const { claim, signals } = withAnalyzers(report(NONE, 15), [answer("complete", 74)]);
    expect(claim).toEqual(NONE);
    expect(signals?.confidence).toBe(74);
  });

  test("never changes a claim that the agent makes itself", () => {
    const blocked: Claim = { is: "blocked", reason: "no key" };
    expect(withAnalyzers(report(blocked, 100), [answer("complete", 100)]).claim).toEqual(blocked);
    expect(withAnalyzers(report(COMPLETE, 100), [answer("blocked", 100)]).claim).toEqual(COMPLETE);
  });

  test("makes no claim of an agent that failed", () => {
    const failed = { ...report(NONE, 0), failure: { class: "agent", message: "it crashed" } as const };
    expect(withAnalyzers(failed, [answer("complete", 100)]).claim).toEqual(NONE);
  });

  test("holds a doubt against a claim, if it is strong enough, and always lowers the confidence", () => {
    const { signals: strong } = withAnalyzers(report(COMPLETE, 100), [answer("doubt", 80, "it only hopes")]);
    expect(strong).toMatchObject({ confidence: 20, contradictions: ["it only hopes (mine/words)"] });
    const { signals: weak } = withAnalyzers(report(COMPLETE, 100), [answer("doubt", 30)]);
    expect(weak).toMatchObject({ confidence: 70, contradictions: [] });
  });

  test("tells blocked, stuck and iterations that only tested", () => {
    expect(withAnalyzers(report(NONE, 0), [answer("blocked", 90)]).claim).toEqual({
      is: "blocked",
      reason: "the analyzer mine/words says so",
    });
    const { signals } = withAnalyzers(report(NONE, 0), [answer("stuck", 75), answer("test-only", 74)]);
    expect(signals).toMatchObject({ isStuck: true, isTestOnly: false });
  });
});
