import { describe, expect, test } from "vitest";
import type { Claim } from "./agent-report.ts";
import { claimWith, readToolReport, type ToolReport } from "./tool-reports.ts";

const none: Claim = { is: "none" };
const unfinished: Claim = { is: "unfinished" };
const complete: Claim = { is: "complete", promise: "COMPLETE" };
const blocked = (reason: string): Claim => ({ is: "blocked", reason });
const done = (reason: string): Claim => ({ is: "already-done", reason });
const undecided = (question: string): Claim => ({
  is: "undecided",
  question,
  options: [],
  default: null,
  deadlineMs: null,
});
const completes: ToolReport = { tool: "task_complete", summary: "all of it" };
const progresses: ToolReport = { tool: "report_progress", message: "half of it" };
const blocks = (reason: string): ToolReport => ({ tool: "task_blocked", reason });
const asks = (question: string): ToolReport => ({
  tool: "ask_decision",
  question,
  options: [],
  default: null,
  deadlineMs: null,
});

test("a review is taken as it can be read, and is no claim", () => {
  const entry = { criterion: 1, answer: "met", reason: "a.txt:1" };
  const report = readToolReport({ tool: "submit_review", criteria: [entry], concerns: [{ concern: 1 }] });
  expect(report).toEqual({ tool: "submit_review", review: { criteria: [entry], concerns: [] } });
  expect(claimWith(none, [report as ToolReport], "COMPLETE")).toEqual(none);
  expect(readToolReport({ tool: "submit_review", criteria: [] })).toContain("answers nothing");
});

describe("the claim of words and tools together", () => {
  test.each<[string, Claim, readonly ToolReport[], Claim]>([
    ["without reports it is that of the words", complete, [], complete],
    ["progress is no claim", none, [progresses], none],
    ["the tool completes as the promise does", none, [progresses, completes], complete],
    [
      "the tool completes also where the words say that there is more to do",
      unfinished,
      [completes],
      complete,
    ],
    ["a blocker in words stands against the tool", blocked("no key"), [completes], blocked("no key")],
    ["a question in words stands against the tool", undecided("which?"), [completes], undecided("which?")],
    ["work done before, in words, stands against the tool", done("by Eve"), [completes], done("by Eve")],
    ["a blocker from the tool beats the promise", complete, [blocks("no key")], blocked("no key")],
    ["it beats an earlier completion", none, [completes, blocks("no key")], blocked("no key")],
    ["it beats a later completion", none, [blocks("no key"), completes], blocked("no key")],
    ["it beats a blocker in words", blocked("words"), [blocks("tool")], blocked("tool")],
    ["of several the last counts", none, [blocks("no key"), asks("which?")], undecided("which?")],
    ["also the other way round", none, [asks("which?"), blocks("no key"), progresses], blocked("no key")],
  ])("%s", (_, words, reports, claim) => {
    expect(claimWith(words, reports, "COMPLETE")).toEqual(claim);
  });

  test("a question keeps its options, default and deadline", () => {
    const asked = {
      question: "WebSockets or polling?",
      options: ["WebSockets", "polling"],
      default: "polling",
      deadlineMs: 60_000,
    };
    expect(claimWith(none, [{ tool: "ask_decision", ...asked }], "COMPLETE")).toEqual({
      is: "undecided",
      ...asked,
    });
  });
});

describe("a report", () => {
  test.each<[string, unknown, ToolReport]>([
    ["of completion", { tool: "task_complete", summary: " all of it " }, completes],
    ["of completion without a summary", { tool: "task_complete" }, { tool: "task_complete", summary: "" }],
    ["of a blocker", { tool: "task_blocked", reason: "no key", more: 1 }, blocks("no key")],
    ["with escapes", { tool: "task_blocked", reason: "\x1b[31mno key\x1b[0m\0" }, blocks("no key")],
    ["of progress", { tool: "report_progress", message: "half of it" }, progresses],
    [
      "of progress with a number",
      { tool: "report_progress", message: "half of it", percent: 50 },
      { ...progresses, percent: 50 },
    ],
    [
      "of progress with a number that makes no sense",
      { tool: "report_progress", message: "half of it", percent: 101 },
      progresses,
    ],
    ["of a bare question", { tool: "ask_decision", question: "which?" }, asks("which?")],
    [
      "of a question whose options are none",
      { tool: "ask_decision", question: "which?", options: ["", 7], default: null, deadline: "" },
      asks("which?"),
    ],
    [
      "of a full question",
      { tool: "ask_decision", question: "which?", options: ["a", "b"], default: "b", deadline: "1h30m" },
      {
        tool: "ask_decision",
        question: "which?",
        options: ["a", "b"],
        default: "b",
        deadlineMs: 5_400_000,
      },
    ],
    [
      "of a question with a default of its own",
      { tool: "ask_decision", question: "how many?", default: "three" },
      { tool: "ask_decision", question: "how many?", options: [], default: "three", deadlineMs: null },
    ],
  ])("%s is read", (_, value, report) => {
    expect(readToolReport(value)).toEqual(report);
  });

  test.each<[string, unknown, string]>([
    ["nothing", null, "no such tool"],
    ["a list", ["task_complete"], "no such tool"],
    ["an unknown tool", { tool: "mark_done" }, "no such tool"],
    ["a blocker without words", { tool: "task_blocked", reason: " \n" }, "reason is empty"],
    ["a blocker that is no text", { tool: "task_blocked", reason: { is: 1 } }, "reason is empty"],
    ["a question without words", { tool: "ask_decision", question: "" }, "question is empty"],
    ["progress without words", { tool: "report_progress", message: "" }, "message is empty"],
    [
      "a default that is none of the options",
      { tool: "ask_decision", question: "which?", options: ["a", "b"], default: "c" },
      'default is "c", which is none of the options: a, b',
    ],
    [
      "a deadline that is no duration",
      { tool: "ask_decision", question: "which?", default: "a", deadline: "tomorrow" },
      'deadline "tomorrow" is no duration',
    ],
    [
      "a deadline of no time",
      { tool: "ask_decision", question: "which?", default: "a", deadline: "0" },
      'deadline "0" is no duration',
    ],
    [
      "a deadline for ever",
      { tool: "ask_decision", question: "which?", default: "a", deadline: "9".repeat(400) },
      "is no duration",
    ],
    [
      "a deadline after which nothing is taken",
      { tool: "ask_decision", question: "which?", deadline: "30m" },
      "a deadline needs a default",
    ],
  ])("%s is refused", (_, value, objection) => {
    expect(readToolReport(value)).toContain(objection);
  });

  test("long words are cut, and many options too", () => {
    const report = readToolReport({
      tool: "ask_decision",
      question: "😀".repeat(5_000),
      options: Array.from({ length: 100 }, (_, index) => `${index}`),
    });
    expect(report).toMatchObject({ question: "😀".repeat(1_000) });
    expect(report).toHaveProperty("options.length", 20);
  });
});
