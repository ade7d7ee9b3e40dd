import { describe, expect, test } from "vitest";
import type { Claim } from "../../src/core/streams/agent-report.ts";
import { analyzeText, block } from "./analyze-text.ts";

const PROMISE = "<promise>COMPLETE</promise>";
const EMPTY_FORM = block(
  "STATUS: COMPLETE | IN_PROGRESS | BLOCKED",
  "TASKS_COMPLETED_THIS_LOOP: <number>",
  "FILES_MODIFIED: <number>",
  "TESTS_STATUS: PASSING | FAILING | NOT_RUN",
  "WORK_TYPE: IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING",
  "EXIT_SIGNAL: true | false",
  "RECOMMENDATION: <summary>",
);
const fenced = (text: string): string => `\`\`\`\n${text}\n\`\`\``;

type Is = Claim["is"];

describe("the claim", () => {
  test.each<[string, string, Is, number]>([
    ["of silence is none", "", "none", 0],
    ["of a promise is complete", PROMISE, "complete", 100],
    ["of a promise of something else is none", "<promise>OTHER</promise>", "none", 0],
    ["of a blocker is blocked", "<promise>BLOCKED:no key</promise>", "blocked", 100],
    ["of work done before is already-done", "<promise>ALREADY_DONE:by Eve</promise>", "already-done", 100],
    [
      "of work done before beats the block",
      `${block("EXIT_SIGNAL: true")}\n<promise>ALREADY_DONE:by Eve</promise>`,
      "already-done",
      100,
    ],
    ["of a question is undecided", "<promise>DECIDE:a or b?</promise>", "undecided", 100],
    ["of a complete block is complete", block("STATUS: COMPLETE"), "complete", 100],
    ["of a block in progress is unfinished", block("STATUS: IN_PROGRESS"), "unfinished", 100],
    ["of a blocked block is blocked", block("STATUS: BLOCKED"), "blocked", 100],
    [
      "follows the exit signal, not the status",
      block("STATUS: IN_PROGRESS", "EXIT_SIGNAL: true"),
      "complete",
      100,
    ],
    ["follows a false exit signal", block("STATUS: COMPLETE", "EXIT_SIGNAL: false"), "unfinished", 100],
    ["of BLOCKED beats the exit signal", block("STATUS: BLOCKED", "EXIT_SIGNAL: true"), "blocked", 100],
    ["of an empty block is none", block(), "none", 0],
    ["of a block without sense is none", block("STATUS: DONE", "EXIT_SIGNAL: yes"), "none", 0],
    ["of the empty form is none", EMPTY_FORM, "none", 0],
    ["of the empty form in a fence is none", fenced(EMPTY_FORM), "none", 0],
    [
      "of a form that is half filled in is none",
      block("STATUS: COMPLETE", "FILES_MODIFIED: <number>", "EXIT_SIGNAL: true"),
      "none",
      0,
    ],
    ["of a block in a fence counts", fenced(block("STATUS: COMPLETE")), "complete", 100],
    ["of an indented block counts", block("STATUS: COMPLETE").replaceAll(/^/gm, "    "), "complete", 100],
    ["in any case counts", block("status: Complete", "Exit_Signal: TRUE").toLowerCase(), "complete", 100],
    ["with a space for an underscore counts", block("STATUS: in progress"), "unfinished", 100],
    ["in bold counts", block("STATUS: **COMPLETE**", "EXIT_SIGNAL: `true`"), "complete", 100],
    ["of a quoted block is none", block("STATUS: COMPLETE").replaceAll(/^/gm, "> "), "none", 0],
    [
      "of a block without an end is none",
      "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true",
      "none",
      0,
    ],
    ["of a block without a beginning is none", "STATUS: COMPLETE\n---END_RALPH_STATUS---", "none", 0],
    [
      "is the last block's",
      `${block("EXIT_SIGNAL: true")}\n${block("EXIT_SIGNAL: false")}`,
      "unfinished",
      100,
    ],
    [
      "is the last complete block's",
      `${block("EXIT_SIGNAL: true")}\n---RALPH_STATUS---\nEXIT_SIGNAL: false`,
      "complete",
      100,
    ],
    [
      "is not the empty form's after a block",
      `${block("EXIT_SIGNAL: true")}\n${EMPTY_FORM}`,
      "complete",
      100,
    ],
    [
      "of a block that a fence tears apart is none",
      "---RALPH_STATUS---\n```\nSTATUS: COMPLETE\n```\n---END_RALPH_STATUS---",
      "none",
      0,
    ],
    ["of a promise beats the block", `${block("EXIT_SIGNAL: false")}\n${PROMISE}`, "complete", 100],
    ["of a promise beats a blocked block", `${PROMISE}\n${block("STATUS: BLOCKED")}`, "complete", 100],
    [
      "of a blocker beats a complete block",
      `<promise>BLOCKED:x</promise>\n${block("EXIT_SIGNAL: true")}`,
      "blocked",
      100,
    ],
    [
      "of a question beats promise and block",
      `${PROMISE}\n<promise>DECIDE:x?</promise>\n${block("STATUS: BLOCKED")}`,
      "undecided",
      100,
    ],
    [
      "of a blocker without a reason does not beat the block",
      `<promise>BLOCKED:</promise>\n${block("EXIT_SIGNAL: true")}`,
      "complete",
      100,
    ],
    [
      "of another promise leaves it to the block",
      `<promise>NO</promise>\n${block("EXIT_SIGNAL: true")}`,
      "complete",
      100,
    ],
    ["of a bare exit signal is complete", "All set.\nEXIT_SIGNAL: true\n", "complete", 100],
    ["of a bare exit signal may be indented", "  exit_signal: TRUE  ", "complete", 100],
    ["of a bare false exit signal is none", "EXIT_SIGNAL: false", "none", 0],
    ["of a bare exit signal taken back is none", "EXIT_SIGNAL: true\nEXIT_SIGNAL: false", "none", 0],
    ["of a bare exit signal in a fence is none", fenced("EXIT_SIGNAL: true"), "none", 0],
    ["of a quoted exit signal is none", "> EXIT_SIGNAL: true", "none", 0],
    ["of an exit signal in a sentence is none", "I would print EXIT_SIGNAL: true here", "none", 0],
    ["of the form's exit signal is none", "EXIT_SIGNAL: true | false", "none", 0],
    ["of a block beats a bare line", `${block("EXIT_SIGNAL: false")}\nEXIT_SIGNAL: true`, "unfinished", 100],
    ["of many words is none", "Done. Complete. Finished. All tasks complete. Nothing to do.", "none", 90],
  ])("%s", (_, text, claim, confidence) => {
    const report = analyzeText(text);
    expect([report.claim.is, report.signals.confidence]).toEqual([claim, confidence]);
  });
});

describe("the details", () => {
  test("of a blocked block are its recommendation", () => {
    const text = block("STATUS: BLOCKED", "RECOMMENDATION: wait for", "the new key", "EXTRA: 1");
    expect(analyzeText(text).claim).toEqual({ is: "blocked", reason: "wait for the new key" });
    expect(analyzeText(block("STATUS: BLOCKED")).claim).toEqual({ is: "blocked", reason: "no reason given" });
  });

  test("of a question are options, default and deadline", () => {
    expect(
      analyzeText("<promise>DECIDE:Which? | SQL | files | default=SQL | deadline=30m</promise>").claim,
    ).toEqual({
      is: "undecided",
      question: "Which?",
      options: ["SQL", "files"],
      default: "SQL",
      deadlineMs: 1_800_000,
    });
  });

  test("of a block are all its fields, and which are missing or unknown", () => {
    const { signals } = analyzeText(
      block(
        "STATUS: complete",
        "FILES_MODIFIED: 3",
        "TESTS_STATUS: great",
        "WORK_TYPE: testing",
        "MOOD: good",
      ),
    );
    expect(signals.statusBlock).toEqual({
      status: "COMPLETE",
      tasksCompleted: null,
      filesModified: 3,
      testsStatus: null,
      workType: "TESTING",
      exitSignal: null,
      recommendation: null,
      unknownFields: ["MOOD: good", "TESTS_STATUS: great"],
      missingFields: ["TASKS_COMPLETED_THIS_LOOP", "EXIT_SIGNAL", "RECOMMENDATION"],
    });
    expect(signals).toMatchObject({
      exitSignal: null,
      workType: "TESTING",
      testsStatus: null,
      isTestOnly: true,
    });
  });

  test.each<[string, string, string | null, boolean, boolean | null]>([
    ["no promise", "hello", null, false, null],
    ["a promise", PROMISE, "COMPLETE", true, null],
    ["another promise", "<promise>OTHER</promise>", "OTHER", false, null],
    ["a blocker", "<promise>BLOCKED:x</promise>", "BLOCKED:x", false, null],
    ["a bare exit signal", "EXIT_SIGNAL: true", null, false, true],
    ["a bare false exit signal", "EXIT_SIGNAL: false", null, false, false],
    ["a block", block("EXIT_SIGNAL: false"), null, false, false],
  ])("of %s are the promise and the exit signal", (_, text, promise, matches, exitSignal) => {
    const report = analyzeText(text);
    expect([report.promise, report.promiseMatches, report.signals.exitSignal]).toEqual([
      promise,
      matches,
      exitSignal,
    ]);
  });

  test("are the same when lines end with a return or have colours", () => {
    const text = block("STATUS: COMPLETE", "EXIT_SIGNAL: true");
    expect(analyzeText(text.replaceAll("\n", "\r\n")).claim.is).toBe("complete");
    expect(analyzeText(text.replaceAll(/^(.*)$/gm, "\x1b[32m$1\x1b[0m")).claim.is).toBe("complete");
  });
});

describe("confidence", () => {
  test.each<[string, number]>([
    ["The work is done.", 25],
    ["It is done, done, DONE.", 25],
    ["I finished the parser. It is done.", 50],
    ["All tasks complete.", 50],
    ["All tasks are complete and the project is ready.", 75],
    ["Nothing to do.", 15],
    ["Already implemented, so nothing to do.", 15],
    ["The feature was already implemented. Done.", 40],
    ["No changes were needed.", 15],
    ["There are no errors and everything is done.", 25],
    ["not done yet", 0],
    ["This isn't complete.", 0],
    ["It is not yet finished.", 0],
    ["This was never finished.", 0],
    ["almost done", 0],
    ["About 80% complete.", 0],
    ["100% complete.", 25],
    ["3/5 tasks done", 0],
    ["2 of 4 items are complete", 0],
    ["4 of 4 items are complete", 25],
    ["Once it is done I will print the promise.", 0],
    ["I will be done soon.", 0],
    ["I still have to complete the parser.", 0],
    ["Here is a complete list of files.", 0],
    ["The work is incomplete.", 0],
    ["Is it done?", 0],
    ["The callback done() is called.", 0],
    ["> done", 0],
    ["```\ndone\n```", 0],
    ["Everything works.", 0],
  ])("of %j is %d", (text, confidence) => {
    expect(analyzeText(text).signals.confidence).toBe(confidence);
  });
});

describe("only tests were run", () => {
  test.each<[string, boolean]>([
    ["I ran `bun test`: all green.", true],
    ["Ran pytest. All 12 tests pass.", true],
    ["Running npm test now.", true],
    ["npm run test: 5 passed", true],
    ["I ran the tests and changed nothing.", true],
    ["I ran the tests. No files were changed.", true],
    ["Implemented login, then ran jest.", false],
    ["Fixed the parser. All tests pass.", false],
    ["Created `src/a.ts`. vitest is green.", false],
    ["It is already implemented; I ran the test suite with pytest.", true],
    ["I looked around.", false],
  ])("%j: %s", (text, isTestOnly) => {
    expect(analyzeText(text).signals.isTestOnly).toBe(isTestOnly);
  });
});

describe("stuck", () => {
  test.each<[string, boolean]>([
    ["I am unable to continue.", true],
    ["I cannot reach the registry.", true],
    ["Error: no such module", true],
    ["The build failed again.", true],
    ["I am stuck.", true],
    ["0 tests failed", false],
    ["Nothing failed.", false],
    ["No errors.", false],
    ["It finished without errors.", false],
    ["Added error handling.", false],
    ["Fixed the error.", false],
    ["errors: 0", false],
    ["Invalid input returns an error, and users cannot submit twice.", false],
    ["The first build failed, but I fixed it.", false],
    ["If the build failed, it would say so.", false],
    [`The first try failed.\n${PROMISE}`, false],
    ["All good.", false],
  ])("%j: %s", (text, isStuck) => {
    expect(analyzeText(text).signals.isStuck).toBe(isStuck);
  });
});
