import { describe, expect, test } from "vitest";
import { analyzeText } from "./analyze-text.ts";

const contradictionsOf = (text: string): readonly string[] =>
  analyzeText(`Summary.\n\n${text}\n<promise>COMPLETE</promise>`).signals.contradictions;

describe("the work is not done where the agent says", () => {
  test.each([
    "I am not done.",
    "I'm not done yet.",
    "We are not yet finished.",
    "I am still not done with the export.",
    "I have not finished the export.",
    "I haven't completed it.",
    "I did not finish the migration.",
    "The feature is not finished yet",
    "The feature isn't finished.",
    "This task is not done.",
    "The login feature is still not fully complete.",
    "The implementation is not yet complete.",
    "Most of it works, but the feature is not finished.",
    "this is not complete yet",
    "It is not finished yet.",
    "However, this is still not done.",
    "It's still not finished.",
    "Not done yet.",
    "Quoted commas are not handled yet.",
    "The real service is not called yet.",
    "It does not compile at the moment.",
    "I left the paging itself for later.",
    "It is commented out because it does not work with empty texts.",
    "The type check still reports errors for greet.",
    "40, 90 and 400 are missing; I suggest to add them in a follow-up.",
    "I could not make the failing tests pass.",
    "I couldn't get the tests passing.",
    "I could not get the tests to pass",
    "I couldn't get all of the unit tests to pass.",
    "I was unable to make the build pass.",
    "I can't get the suite to go green.",
    "The tests do not pass yet.",
    "Two tests still don't pass.",
    "I implemented only the first half.",
    "I have only implemented half of the feature.",
    "I only did part of the work.",
    "The rest will follow.",
    "The other half will follow later.",
    "the handler is stubbed out",
    "Both endpoints are still stubbed out.",
    "The handler is only a stub.",
    "I stubbed out the handler for now.",
    "There is a handler that is stubbed out.",
    "The tests do not pass on Windows.",
    "The reconnect does not work.",
    "Pagination isn't working yet.",
    "The price list is only a placeholder.",
    "I added a placeholder implementation of the export.",
    "I could not verify it, because the database is down.",
    "I wasn't able to get the integration tests running.",
    "The port is hard-coded for now.",
    "It will be added later.",
    "This is a work in progress.",
    "The build is broken.",
    "12 passed, 3 failed",
    "FAILED (failures=2)",
  ])("%s", (text) => {
    expect(contradictionsOf(text)).toEqual([text]);
  });

  test("in two sentences", () => {
    expect(contradictionsOf("I implemented only the first half. The rest will follow.")).toHaveLength(2);
  });
});

describe("the work may well be done where the agent says", () => {
  test.each([
    // Done.
    "It is not only done but tested.",
    "I am not just finished, it is tested too.",
    "Last time I was not done; now I am.",
    "I am not done until the tests pass, so I ran them: they pass.",
    "In the last iteration I did not finish the parser, so I began there.",
    "In the previous run I had not finished the export; it is complete now.",
    "I did not finish early because of the review, all of it is in.",
    "Nothing is left that is not done.",
    "There is nothing that I have not finished.",
    // Something else is not finished.
    "The download is not finished when the event fires.",
    "A task that is not done yet has an empty box.",
    "If the task is not done yet, the box is empty.",
    "The list shows whether a feature is not finished yet.",
    'The label "this is not complete yet" is gone.',
    "The task is not done until its box is checked.",
    "The feature is not complete without docs, so I wrote them.",
    "The work is not done in the main thread but in a worker.",
    "The work is not done twice.",
    "The implementation is not done with regular expressions.",
    "It is not done yet in the old API, but the new one does it.",
    // Tests.
    "Added a check, so the tests do not pass by accident.",
    "The tests do not pass a locale to the parser.",
    "At first I could not get the tests to pass, but now they do.",
    "I could not get the tests to pass until I fixed the clock.",
    "Without the mock I could not get the tests to pass.",
    "Initially, I could not get the build to work.",
    "Users who could not get the build to run see a hint.",
    "If the tests do not pass, the build stops.",
    "The tests do not pass without the fix.",
    "Previously the tests did not pass.",
    // Parts.
    "I implemented only the first task, as the plan says.",
    "The parser reads only the first half of the file.",
    "The rest will follow the same pattern.",
    "The rest is unchanged.",
    "Task 1 is done. The rest of the tasks will follow.",
    "The rest of the tasks will follow in later iterations.",
    "The body will follow after the header.",
    // Stubs.
    "The handler is no longer stubbed out.",
    "The handler is not stubbed out any more.",
    "The handler was stubbed out before.",
    "I started the stub server.",
    "The network is stubbed out in the tests.",
    "In the tests the clock is stubbed out.",
    "fetch is stubbed out, so the suite needs no network.",
    "Added a stub for the mailer.",
    "The fake server is only a stub for the specs.",
  ])("%s", (text) => {
    expect(contradictionsOf(text)).toEqual([]);
  });
});

describe("what was before the work does not count", () => {
  test.each([
    "Before my change, 2 tests fail. After it all pass.",
    "Before this fix, two tests failed.",
    "Before I started, the export was blocked by a bug.",
    "Prior to this commit, 3 tests fail.",
    "Initially, the tests fail.",
    "At the start, there were 3 failing tests.",
    "On main, 2 tests fail; on this branch all pass.",
    "Without this change, the tests fail.",
    "Until now, the parser could not complete a run.",
    "I made the tests fail first (TDD)",
    "I wrote the tests, and saw that the tests fail first.",
    "I let the tests fail on purpose.",
    "The new tests fail first, then I implemented the parser.",
    "TDD: the new tests failed, so I wrote the code.",
    "tests that used to fail now pass",
    "The tests which failed are green now.",
    "The tests that were failing all pass.",
    "The 2 failing tests are green.",
    "2 tests failed in the last iteration.",
    "With the old code this test fails, with the new code it passes.",
    "The tests fail on the old code.",
    "Reproduced: the tests fail with the previous parser.",
    "Reverting my change makes the tests fail.",
    "If reverted, the tests fail.",
    "I checked that the tests fail when I revert the fix.",
    "I broke it on purpose to see the tests fail.",
    "It ensures that the tests fail on a stale snapshot.",
    "Root cause: the tests failed because the clock was mocked.",
    "The tests failed because of a missing import, which I added.",
    "The first run had 2 failing tests; after the fix all 14 tests pass.",
    "I verified that the new test fails without the fix.",
  ])("%s", (text) => {
    expect(contradictionsOf(text)).toEqual([]);
  });

  test.each([
    "Before my change all was green, but now 2 tests fail.",
    "Before my change, all passed, now the tests fail.",
    "My change made 2 tests fail.",
    "First, the tests fail.",
    "Initially, it worked, but 2 tests still fail.",
    "On main, all is fine, here 2 tests fail now.",
    "On main, 2 tests fail.",
    "The unit tests fail, but the linter is green.",
    "The tests fail, then I stopped.",
    "I ran it to see where we are: 2 tests fail.",
    "The tests fail when I run them on CI.",
  ])("but: %s", (text) => {
    expect(contradictionsOf(text)).toEqual([text]);
  });
});

describe("what is about somebody else does not count", () => {
  test.each([
    "You still need to set API_KEY in production.",
    "Note: you still need to run `npm install`.",
    "Invoices that still need to be paid are highlighted.",
    "The input has placeholder text.",
    "Added tests for failed logins.",
    "You will still need to run the migration in production.",
    "You'll still have to configure the `SMTP_URL` environment variable.",
    "To go live you still need to add the secret to your environment.",
    "Users still need to log in first.",
    "Admins still have to confirm it.",
    "Callers still need to close the stream.",
    "Users who are blocked by the firewall see an error page",
    "Requests that are blocked by CORS are counted.",
    "Users blocked by an admin cannot post.",
    "A request blocked by the proxy is retried.",
    "The main thread is no longer blocked by the reader.",
    "Issues can be blocked by other issues.",
    "The issue is marked as blocked by another one.",
    "A task blocked by another one is grey.",
    "Added the blocked by column.",
    "Users cannot complete the checkout without an address.",
    "An upload that could not complete is retried.",
    "Customers who are unable to complete the form get a mail.",
    "Implemented the TODO: list view",
    "Marked the TODO: as done.",
    "Handled the last two FIXME: notes.",
    "Added a flag that reruns failed tests.",
  ])("%s", (text) => {
    expect(contradictionsOf(text)).toEqual([]);
  });

  test.each([
    "You still need to implement the export.",
    "The parser still needs to handle comments.",
    "There are parts that still need to be written.",
    "There is one part that is blocked by the missing key.",
    "The export still needs to be written.",
    "I am blocked by the firewall.",
    "The export, which is blocked by the missing key, is next.",
    "This is blocked by another task.",
    "The export may work but is blocked by the missing key.",
    "We cannot complete a run.",
    "The migration cannot complete.",
    "This cannot complete a run.",
    "I implemented the parser — TODO: list view",
    "TODO: list view",
    "TODO: comments",
    "There are failing tests.",
  ])("but: %s", (text) => {
    expect(contradictionsOf(text)).toEqual([text]);
  });
});

describe("the end counts", () => {
  test.each([
    "2 failed, 10 passed\n\nI mended the parser.\n\n12 passed",
    "Tests: 1 failed, 5 passed, 6 total\nFixed it.\nTests: 6 passed, 6 total",
    "The tests fail.\n\nThe index was off by one.\n\nAll tests pass.",
    "# fail 1\nnot ok: the test failed\n# pass 2\n# fail 0",
    `TODO: read the code\n${"One more step.\n".repeat(40)}`,
  ])("when earlier words in %j were about the way there", (text) => {
    expect(contradictionsOf(text)).toEqual([]);
  });

  test.each([
    ["12 passed\n\n2 failed, 10 passed", "2 failed, 10 passed"],
    ["The tests fail.\n\nNot all tests pass.", "The tests fail."],
    ["2 tests fail.\n\nAll other tests pass.", "2 tests fail."],
    ["All tests pass.\n\nI still need to write the docs.", "I still need to write the docs."],
  ])("when the last words in %j say so", (text, sentence) => {
    expect(contradictionsOf(text)).toEqual([sentence]);
  });
});

describe("lines of a diff or of indented code are no words", () => {
  test.each([
    "-  // FIXME: handle zero\n+  if (b === 0) throw new RangeError();",
    "-// TODO: later",
    "- # TODO: later",
    "@@ -1,3 +1,2 @@\n def a():\n-    TODO: later\n+    return 1",
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n- TODO: later",
    "It has this:\n\n    TODO: later\n    TODO: even later",
  ])("%s", (text) => {
    expect(contradictionsOf(text)).toEqual([]);
  });

  test.each([
    ["- TODO: later", "- TODO: later"],
    ["- The list\n    - TODO: later", "- TODO: later"],
    ["- The list\n    TODO: later", "TODO: later"],
    ["@@ -1 +1 @@\n-a\n+b\n\nTODO: later", "TODO: later"],
  ])("but bullets and what follows are, as in %j", (text, sentence) => {
    expect(contradictionsOf(text)).toEqual([sentence]);
  });
});
