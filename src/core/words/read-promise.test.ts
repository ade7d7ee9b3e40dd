import { describe, expect, test } from "vitest";
import type { Claim } from "../streams/agent-report.ts";
import { createPromiseReader } from "./read-promise.ts";
import { createLineReader } from "./split-lines.ts";

const complete: Claim = { is: "complete", promise: "COMPLETE" };
const none: Claim = { is: "none" };
const blocked = (reason: string): Claim => ({ is: "blocked", reason });
const undecided = (question: string, ...options: string[]): Claim => ({
  is: "undecided",
  question,
  options,
  default: null,
  deadlineMs: null,
});

function claimOf(text: string, requireXml = true, completion = "COMPLETE"): Claim {
  const reader = createPromiseReader({ completion, requireXml });
  const lines = createLineReader((line, standing) => reader.read(line, standing));
  for (const line of text.split("\n")) lines.read(line);
  lines.end();
  return reader.said().claim;
}

describe("a promise", () => {
  test.each<[string, string, Claim]>([
    ["on a line of its own counts", "done\n<promise>COMPLETE</promise>\n", complete],
    ["may have white space around", " \t <promise>COMPLETE</promise> \t", complete],
    ["may have white space inside", "<promise>  COMPLETE\t</promise>", complete],
    ["may span lines", "<promise>\n  COMPLETE\n</promise>", complete],
    ["may span lines with blank ones", "<promise>\n\nCOMPLETE\n\n</promise>", complete],
    ["may end at the end of a line", "<promise>COMPLETE\n</promise>", complete],
    ["may come with a carriage return", "<promise>COMPLETE</promise>\r", complete],
    ["may follow a progress bar", " 10%\r 99%\r<promise>COMPLETE</promise>", complete],
    ["may come with a byte order mark", "\ufeff<promise>COMPLETE</promise>", complete],
    ["may be coloured", "\x1b[1;32m<promise>COMPLETE</promise>\x1b[0m", complete],
    ["may be a link", "\x1b]8;;https://a.b\x07<promise>COMPLETE</promise>\x1b]8;;\x1b\\", complete],
    ["may have NUL bytes around", "\0\0<promise>COMPLETE</promise>\0", complete],
    ["counts after broken escapes", "\x1b[\x1b]never ended\n<promise>COMPLETE</promise>", complete],
    ["after other words does not count", "I print <promise>COMPLETE</promise>", none],
    ["before other words does not count", "<promise>COMPLETE</promise> is what I print", none],
    ["in inline code does not count", "`<promise>COMPLETE</promise>`", none],
    ["in a list does not count", "- <promise>COMPLETE</promise>", none],
    ["twice on a line does not count", "<promise>COMPLETE</promise><promise>COMPLETE</promise>", none],
    ["with words after its end does not count", "<promise>\nCOMPLETE\n</promise> or so", none],
    ["with another text does not count", "<promise>DONE</promise>", none],
    ["is case-sensitive in its text", "<promise>complete</promise>", none],
    ["is case-sensitive in its name", "<Promise>COMPLETE</Promise>", none],
    ["without an end does not count", "<promise>COMPLETE", none],
    ["as bare words does not count", "COMPLETE", none],
    ["in a quoted line does not count", "> <promise>COMPLETE</promise>", none],
    ["is not held up by one that never ended", "<promise>\nhm\n<promise>COMPLETE</promise>", complete],
    ["does not go on over a fence", "<promise>\n```\nCOMPLETE\n```\n</promise>", none],
    ["counts when a later one matches", "<promise>NO</promise>\n<promise>COMPLETE</promise>", complete],
    [
      "does not count when a later one does not match",
      "<promise>COMPLETE</promise>\n<promise>NO</promise>",
      none,
    ],
  ])("%s", (_, text, claim) => {
    expect(claimOf(text)).toEqual(claim);
  });

  test.each<[string, string, Claim]>([
    ["inside backticks does not count", "```\n<promise>COMPLETE</promise>\n```", none],
    ["inside tildes does not count", "~~~ text\n<promise>COMPLETE</promise>\n~~~", none],
    ["after a fence that never ends does not count", "```ts\ncode\n<promise>COMPLETE</promise>", none],
    ["after a closed fence counts", "```ts\ncode\n```\n<promise>COMPLETE</promise>", complete],
    [
      "inside an indented fence does not count",
      "  - so:\n      ```\n<promise>COMPLETE</promise>\n      ```",
      none,
    ],
    ["inside a longer fence does not count", "````\n```\n<promise>COMPLETE</promise>\n````", none],
    ["is not freed by the other fence", "```\n~~~\n<promise>COMPLETE</promise>\n```", none],
    ["is not freed by a fence with words", "```\n```js\n<promise>COMPLETE</promise>", none],
    ["after code in a line counts", "```not a fence```\n<promise>COMPLETE</promise>", complete],
    ["after a quoted fence counts", "> ```\n<promise>COMPLETE</promise>", complete],
  ])("%s", (_, text, claim) => {
    expect(claimOf(text)).toEqual(claim);
  });
});

describe("a hold", () => {
  test.each<[string, string, Claim]>([
    ["has a reason", "<promise>BLOCKED: no key </promise>", blocked("no key")],
    ["may span lines", "<promise>BLOCKED:\nno key\n</promise>", blocked("no key")],
    ["has a question", "<promise>DECIDE:SQL or files?</promise>", undecided("SQL or files?")],
    [
      "may offer options",
      "<promise>DECIDE:Which? | SQL |  files</promise>",
      undecided("Which?", "SQL", "files"),
    ],
    [
      "may have a default and a deadline",
      "<promise>DECIDE:Which?|a||b|default=a|deadline = 2h</promise>",
      { is: "undecided", question: "Which?", options: ["a", "b"], default: "a", deadlineMs: 7_200_000 },
    ],
    [
      "has no deadline when it makes no sense",
      "<promise>DECIDE:Which?|a|b|default=|deadline=soon</promise>",
      undecided("Which?", "a", "b"),
    ],
    [
      "beats a claim after it",
      "<promise>BLOCKED:no key</promise>\n<promise>COMPLETE</promise>",
      blocked("no key"),
    ],
    ["beats a claim before it", "<promise>COMPLETE</promise>\n<promise>DECIDE:a?</promise>", undecided("a?")],
    ["is the last of several", "<promise>BLOCKED:a</promise>\n<promise>DECIDE:b</promise>", undecided("b")],
    [
      "is the last of several, the other way",
      "<promise>DECIDE:b</promise>\n<promise>BLOCKED:a</promise>",
      blocked("a"),
    ],
    ["without a reason is no signal", "<promise>COMPLETE</promise>\n<promise>BLOCKED: </promise>", complete],
    ["without a question is no signal", "<promise>COMPLETE</promise>\n<promise>DECIDE:</promise>", complete],
    ["with options only is no signal", "<promise>DECIDE: | a | b</promise>", none],
    ["in lower case is just another text", "<promise>blocked:no key</promise>", none],
    ["in a fence does not count", "```\n<promise>BLOCKED:no key</promise>\n```", none],
  ])("%s", (_, text, claim) => {
    expect(claimOf(text)).toEqual(claim);
  });
});

describe("work that is already done", () => {
  const done = (reason: string): Claim => ({ is: "already-done", reason });
  const DONE = "<promise>ALREADY_DONE: more() exists </promise>";
  test.each<[string, string, Claim]>([
    ["has a reason", DONE, done("more() exists")],
    ["counts when it is said last", `<promise>COMPLETE</promise>\n${DONE}`, done("more() exists")],
    ["does not count when it is not said last", `${DONE}\n<promise>COMPLETE</promise>`, complete],
    ["is beaten by a blocker before it", `<promise>BLOCKED:no key</promise>\n${DONE}`, blocked("no key")],
    ["is beaten by a question after it", `${DONE}\n<promise>DECIDE:a?</promise>`, undecided("a?")],
    [
      "without a reason is no signal",
      "<promise>COMPLETE</promise>\n<promise>ALREADY_DONE:</promise>",
      complete,
    ],
    ["in lower case is just another text", "<promise>already_done:more() exists</promise>", none],
  ])("%s", (_, text, claim) => {
    expect(claimOf(text)).toEqual(claim);
  });
});

describe("without the need of a tag", () => {
  test.each<[string, string, Claim]>([
    ["bare words count in any case", "so\n  complete \n", complete],
    ["a tag counts", "<promise>COMPLETE</promise>", complete],
    ["a tag is still case-sensitive", "<promise>complete</promise>", none],
    ["other words on the line do not", "complete now", none],
    ["bare words in a fence do not", "```\nCOMPLETE\n```", none],
    ["quoted bare words do not", "> COMPLETE", none],
    ["a later tag that does not match wins", "COMPLETE\n<promise>NO</promise>", none],
  ])("%s", (_, text, claim) => {
    expect(claimOf(text, false)).toEqual(claim);
  });
});

test("the expected text may have spaces", () => {
  expect(claimOf("<promise>ALL TESTS PASS</promise>", true, "ALL TESTS PASS")).toEqual({
    is: "complete",
    promise: "ALL TESTS PASS",
  });
});

test("a tag that is too long is dropped, and what follows is read", () => {
  const text = `<promise>${"x\n".repeat(50_000)}\n</promise>\n<promise>COMPLETE</promise>`;
  expect(claimOf(text)).toEqual(complete);
  expect(claimOf(`<promise>BLOCKED:${"x".repeat(1_000_000)}</promise>`)).toEqual(none);
});

test("a long reason is cut", () => {
  const claim = claimOf(`<promise>BLOCKED:${"x".repeat(10_000)}</promise>`);
  expect(claim.is === "blocked" && claim.reason.length).toBe(2_000);
});

test.each([
  ["open tags", "<promise>\n".repeat(200_000)],
  ["blank lines in a tag", `<promise>${"\n".repeat(400_000)}`],
  ["fences", "```\n".repeat(200_000)],
  ["escapes", `${"\x1b[".repeat(500_000)}\n`],
  ["titles that never end", `${"\x1b]".repeat(500_000)}\n`],
  ["returns", `${"<\r".repeat(500_000)}\n`],
])("reading many %s takes linear time", (_, text) => {
  const before = process.cpuUsage();
  expect(claimOf(text)).toEqual(none);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_500);
});
