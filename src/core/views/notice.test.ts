import { describe, expect, test } from "vitest";
import { settings, task } from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { evolveAll } from "../loop/evolve.ts";
import { type Notice, noticeOf, payload } from "./notice.ts";

const START = Date.UTC(2026, 0, 1);
const RUN = "r1";

/** The notice of the last of these facts. */
function noticed(...events: readonly Event[]) {
  const facts = events.map((event, index): Recorded => ({ ...event, position: index + 1, at: START }));
  const last = facts.at(-1);
  return last === undefined ? null : noticeOf(last, evolveAll(facts));
}

function begun(keepGoing = false, shared = false, noWait = false): readonly Event[] {
  const { source } = settings();
  return [
    {
      type: "run.started",
      run: RUN,
      settings: { ...settings(), keepGoing, noWait, ...(shared && { shared }) },
      pid: 1,
      version: "0",
    },
    { type: "tasks.observed", run: RUN, plan: { source, tasks: [task("a"), task("b")] } },
  ];
}

const about = { run: RUN, task: "ui-004", iteration: 9 };

describe("a notice", () => {
  test("of a question has the question, what may be answered, and how", () => {
    const notice = noticed(...begun(), {
      type: "question.asked",
      ...about,
      question: "Revoke one session or all at once?",
      options: ["one", "all"],
      default: "one",
      deadlineAt: START + 30 * 60_000,
    });
    expect(notice).toMatchObject({
      id: "r1-3",
      kind: "decide",
      run: RUN,
      task: "ui-004",
      text: "ui-004 asks: Revoke one session or all at once? (options: one, all; default: one in 30m)",
      command: 'ralph decide ui-004 "one"',
      event: { type: "question.asked", position: 3, iteration: 9 },
    });
  });

  test("of a blocked task has the reason, and how it goes on", () => {
    expect(
      noticed(...begun(), { type: "task.blocked", ...about, task: "it's", reason: "no key" }),
    ).toMatchObject({
      kind: "blocked",
      text: "it's is blocked: no key",
      command: String.raw`ralph unblock 'it'\''s'`,
    });
  });

  test("of a stuck task says so", () => {
    const stuck = {
      type: "task.blocked",
      ...about,
      reason: "no progress in 3 iterations",
      isStuck: true,
    } as const;
    expect(noticed(...begun(), stuck)).toMatchObject({
      kind: "stuck",
      text: "ui-004 is stuck: no progress in 3 iterations",
      command: "ralph why ui-004",
    });
  });

  test("of a budget says what is spent", () => {
    const spent = { run: RUN, budget: "day", spentUsd: 4.1, budgetUsd: 5 } as const;
    expect(noticed(...begun(), { type: "budget.neared", ...spent })).toMatchObject({
      kind: "budget",
      text: "$4.10 of the $5.00 for a day are spent",
    });
    expect(noticed(...begun(), { type: "budget.reached", ...spent })?.text).toMatch(/no further iteration/);
  });

  test("of a limit says when it goes on; a short pause is worth none", () => {
    const until = START + 3_600_000;
    expect(noticed(...begun(), { type: "calls.exhausted", run: RUN, until })).toMatchObject({
      kind: "limit",
      text: "the run waits: the calls of this hour are used up; it goes on at 2026-01-01T01:00:00.000Z",
    });
    const wait = { type: "wait.started", run: RUN, until } as const;
    expect(noticed(...begun(), { ...wait, why: "the agent has reached its limit" })?.kind).toBe("limit");
    expect(noticed(...begun(), { ...wait, why: "the agent's service failed; trying again" })).toBeNull();
  });

  test("of a limit is for the end of a run that does not wait", () => {
    const until = START + 3_600_000;
    const impatient = begun(false, false, true);
    expect(noticed(...impatient, { type: "calls.exhausted", run: RUN, until })).toBeNull();
    expect(noticed(...impatient, { type: "calls.exhausted", run: "r0", until })?.kind).toBe("limit");
    const reason = "the calls of this hour are used up until 2026-01-01T01:00:00.000Z";
    const end = { type: "run.ended", run: RUN, outcome: "limited", reason } as const;
    expect(noticed(...impatient, end)).toMatchObject({ kind: "limit", command: "ralph run" });
  });

  test.each([
    ["completed", "every task is done", "done"],
    ["stuck", "no progress in 3 iterations in a row", "stuck"],
    ["limited", "one more iteration would pass the budget of $5.00 for this run", "budget"],
    ["limited", "the agent is logged out: who are you?", "limit"],
    ["exhausted", "the limit of 50 iterations is reached", "ended"],
    ["misconfigured", "no such program", "ended"],
    ["stopped", "stopped on request", undefined],
    ["undecided", "a asks: why?", undefined],
    ["blocked", "a is blocked: why", undefined],
  ] as const)("of a run that ended %s (%s) is %s", (outcome, reason, kind) => {
    const notice = noticed(...begun(), { type: "run.ended", run: RUN, outcome, reason });
    expect(notice?.kind).toBe(kind);
    if (notice !== null) expect(notice.text).toContain(`${reason} (0 of 2 tasks done)`);
  });

  test("of a run that ended because a task waits for something outside of the plan says so", () => {
    const plan = { source: settings().source, tasks: [task("a", { dependsOn: ["elsewhere"] })] };
    const observed = { type: "tasks.observed", run: RUN, plan } as const;
    const end = { type: "run.ended", run: RUN, outcome: "blocked", reason: "a waits" } as const;
    expect(noticed(...begun(), observed, end)).toMatchObject({ kind: "ended", command: "ralph why" });
  });

  test("of the end of a run that went on past a question is no repetition", () => {
    const end = { type: "run.ended", run: RUN, outcome: "undecided", reason: "a asks: why?" } as const;
    expect(noticed(...begun(true), end)).toMatchObject({ kind: "ended", command: "ralph inbox" });
  });

  test("of a reached budget is not repeated by the end of the run", () => {
    const reached = { type: "budget.reached", run: RUN, budget: "day", spentUsd: 5, budgetUsd: 5 } as const;
    const reason = "one more iteration would pass the budget of $5.00 for a day: $5.00 are spent";
    const end = { type: "run.ended", run: RUN, outcome: "limited", reason } as const;
    expect(noticed(...begun(), reached, end)).toBeNull();
  });

  test("of an open breaker is for runs that do not end by it", () => {
    const moved = {
      type: "breaker.moved",
      run: RUN,
      from: "HALF_OPEN",
      to: "OPEN",
      reason: "no progress",
      head: null,
    } as const;
    expect(noticed(...begun(), moved)).toBeNull();
    expect(noticed(...begun(true, true), moved)?.kind).toBe("stuck");
    expect(noticed(...begun(true, true), { ...moved, to: "HALF_OPEN" })).toBeNull();
  });

  test("of a run of long ago does not count today's tasks", () => {
    const end = { type: "run.ended", run: "r0", outcome: "completed", reason: "every task is done" } as const;
    expect(noticed(...begun(), end)?.text).toBe("the run is done: every task is done");
  });
});

const sending = { project: "shop", host: "here", now: Date.UTC(2026, 0, 1) };
const notice: Notice = {
  id: "r1-7",
  position: 7,
  kind: "decide",
  at: Date.UTC(2025, 11, 31),
  run: "r1",
  task: "a",
  text: "a asks: <!channel> & *all*?",
  command: 'ralph decide a "<one>"',
  event: { type: "question.asked" },
};

test("JSON has everything, and when it was sent", () => {
  expect(JSON.parse(payload("json", notice, sending))).toEqual({
    schema: "ralph.notice.v1",
    id: "r1-7",
    kind: "decide",
    at: "2025-12-31T00:00:00.000Z",
    sent_at: "2026-01-01T00:00:00.000Z",
    project: "shop",
    host: "here",
    run: "r1",
    task: "a",
    text: "a asks: <!channel> & *all*?",
    command: 'ralph decide a "<one>"',
    event: { type: "question.asked" },
  });
});

test("Slack gets a text in which nothing calls a whole channel", () => {
  expect(JSON.parse(payload("slack", notice, sending))).toEqual({
    text: 'shop: a asks: &lt;!channel&gt; &amp; *all*?\n→ `ralph decide a "&lt;one&gt;"`',
  });
});

test("Discord gets a content that mentions nobody, and is short enough for it", () => {
  const long = { ...notice, text: `@everyone ${"🚀".repeat(2_000)}` };
  const body = JSON.parse(payload("discord", long, sending)) as { content: string };
  expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
  expect(body.content.length).toBeLessThanOrEqual(2_000);
  expect(body.content).toMatch(/^\*\*shop\*\*: @everyone 🚀+…\n→ `ralph decide a "<one>"`$/u);
});
