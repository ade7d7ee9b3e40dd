import { describe, expect, test } from "vitest";
import {
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { evolveAll } from "../loop/evolve.ts";
import type { Task } from "../plan.ts";
import { asArgument } from "../text.ts";
import { blockedEntry, blockedTasks, isMeantBy, type BlockedTask } from "./inbox.ts";
import { iterationRecords } from "./iteration-record.ts";

const ONE = task("ui-022", { title: "Analytics charts" });
const MANY = task("ui-022", { criteria: ["a", "b", "c", "d"] });
const MINUTE = 60_000;

const RED = { name: "lint", status: "failed", exitCode: 1 } as const;
const MISSING = { name: "lint", status: "missing", exitCode: null } as const;

describe("what would help a blocked task", () => {
  const gaveUp = block("3 failed iterations in a row");
  const cases: readonly (readonly [
    string,
    Task,
    readonly Event[],
    Pick<BlockedTask, "suggestion" | "why" | "command">,
  ])[] = [
    [
      "whose iterations timed out",
      ONE,
      [...timedOut(1, 6 * MINUTE), ...timedOut(2, 9 * MINUTE), ...timedOut(3, 20 * MINUTE), gaveUp],
      {
        suggestion: "increase_timeout",
        why: "3 timeouts at 6m, 9m, 20m",
        command: "ralph unblock ui-022 --timeout 40m",
      },
    ],
    [
      "whose only attempt timed out after a moment",
      ONE,
      [...timedOut(1, 1_000), block("1 failed iterations in a row")],
      {
        suggestion: "increase_timeout",
        why: "1 timeout at 1s",
        command: "ralph unblock ui-022 --timeout 1m",
      },
    ],
    [
      "that timed out once after rejections",
      ONE,
      [...rejected(1), ...rejected(2), ...timedOut(3, MINUTE), gaveUp],
      { suggestion: "manual_review", why: gaveUp.reason, command: "ralph unblock ui-022" },
    ],
    [
      "with a red gate",
      MANY,
      [...rejected(1, RED), ...rejected(2, RED), gaveUp],
      { suggestion: "fix_gate", why: 'gate "lint" failed (exit 1)', command: "ralph unblock ui-022" },
    ],
    [
      "with a gate that must be there and is not",
      ONE,
      [...rejected(1, { ...MISSING, onMissing: "fail" }), gaveUp],
      {
        suggestion: "fix_gate",
        why: `gate "lint" can't run: its program is not installed`,
        command: "ralph unblock ui-022",
      },
    ],
    [
      "with a required gate that is only missed",
      ONE,
      [...rejected(1, MISSING), gaveUp],
      {
        suggestion: "fix_gate",
        why: `gate "lint" can't run: its program is not installed`,
        command: "ralph unblock ui-022",
      },
    ],
    [
      "with a red gate that is not required",
      ONE,
      [...rejected(1, { ...RED, required: false }), gaveUp],
      { suggestion: "manual_review", why: gaveUp.reason, command: "ralph unblock ui-022" },
    ],
    [
      "whose agent said so",
      ONE,
      [...timedOut(1, MINUTE), ...saidBlocked(2), block("no credentials")],
      { suggestion: "answer_needed", why: "no credentials", command: "ralph unblock ui-022" },
    ],
    [
      "that used up its limit in several runs",
      ONE,
      [...rejected(1), exhausted(), exhausted(), exhausted(), block("its iteration limit was used up")],
      { suggestion: "split_task", why: "its iteration limit was used up", command: "ralph unblock ui-022" },
    ],
    [
      "with many criteria and progress that is not enough",
      MANY,
      [...rejected(1), ...rejected(2), ...rejected(3), gaveUp],
      { suggestion: "skip_subtasks", why: gaveUp.reason, command: "ralph unblock ui-022" },
    ],
    [
      "with few criteria and progress that is not enough",
      ONE,
      [...rejected(1), ...rejected(2), ...rejected(3), gaveUp],
      { suggestion: "manual_review", why: gaveUp.reason, command: "ralph unblock ui-022" },
    ],
    [
      "whose agent was suspended",
      MANY,
      [...rejected(1, RED), ...rejected(2, RED), suspended(null), block("suspended")],
      { suggestion: "manual_review", why: "suspended", command: "ralph unblock ui-022" },
    ],
    [
      "whose agent was suspended, and the successor met a red gate",
      ONE,
      [...rejected(1), suspended("other"), ...rejected(2, RED, "other"), gaveUp],
      { suggestion: "fix_gate", why: 'gate "lint" failed (exit 1)', command: "ralph unblock ui-022" },
    ],
    [
      "of which nothing is known",
      ONE,
      [gaveUp],
      { suggestion: "manual_review", why: gaveUp.reason, command: "ralph unblock ui-022" },
    ],
  ];
  test.each(cases)("%s", (_which, of, events, expected) => {
    expect(blocked(of, events)).toMatchObject([expected]);
  });
});

test("every suggestion but more time says what to do before the command", () => {
  const more = blocked(ONE, [...timedOut(1, MINUTE), ...timedOut(2, MINUTE), block("x")])[0];
  expect(more?.first).toBeNull();
  expect(blocked(ONE, [...saidBlocked(1), block("x")])[0]?.first).toBe("settle what it says");
});

test("attempts are iterations that failed or were rejected by the agent's fault", () => {
  const stopped: readonly Event[] = [
    iterationStarted(3, ONE),
    iterationEnded(3, ONE, "none", { ending: { is: "stopped" } }),
    judged(3, "failed"),
  ];
  const [entry] = blocked(ONE, [...rejected(1), ...timedOut(2, 90_000), ...stopped, block("x")]);
  expect(entry && blockedEntry(entry)).toEqual({
    id: "ui-022",
    title: "Analytics charts",
    reason: "x",
    attempts: 2,
    last_timeout_seconds: 900,
    complexity: "medium",
    suggestion: "manual_review",
    command: "ralph unblock ui-022",
  });
});

test("a task that its owner marked as done is not blocked, one that is not in the list is", () => {
  expect(blocked({ ...ONE, done: true }, [block("x")])).toEqual([]);
  expect(blocked(task("other"), [block("x")])).toMatchObject([{ id: "ui-022", title: "", complexity: null }]);
});

test.each([
  ["ui_heavy", true],
  ["UI_Heavy", true],
  ["medium", false],
  ["credentials", true],
  ["no Credentials", true],
  ["cred", false],
  [" ", false],
])("%j means a blocked task: %s", (filter, isMeant) => {
  const dashboard = task("ui-022", { title: "Dashboard" });
  const [entry] = blocked(dashboard, [...saidBlocked(1), block("No credentials, for now")]);
  expect(entry && isMeantBy(filter, entry)).toBe(isMeant);
});

test.each([
  ["ui-022", "ui-022"],
  ["two words", "'two words'"],
  ["it's", String.raw`'it'\''s'`],
  ["=ls", "'=ls'"],
  ["$(x) \\", "'$(x) '\\\\''"],
])("%s is typed as %s", (id, typed) => {
  expect(asArgument(id)).toBe(typed);
});

function blocked(of: Task, more: readonly Event[]): readonly BlockedTask[] {
  const events = [runStarted(), tasksObserved(of), ...more];
  const recorded = events.map((event, at): Recorded => ({ ...event, position: at + 1, at }));
  expect(given(...events).state.tasks["ui-022"]?.blockedReason).not.toBeNull();
  return blockedTasks(evolveAll(recorded), iterationRecords(recorded));
}

function timedOut(iteration: number, timeoutMs: number): readonly Event[] {
  const failure = { class: "agent", message: "timed out" } as const;
  return [
    iterationStarted(iteration, ONE, { timeoutMs }),
    iterationEnded(iteration, ONE, "none", { ending: { is: "timed-out", afterMs: timeoutMs }, failure }),
    evidence(iteration, ONE, []),
    judged(iteration, "failed"),
  ];
}

function rejected(
  iteration: number,
  gate: Parameters<typeof gatesChecked>[2] = {},
  agent = "stub",
): readonly Event[] {
  return [
    iterationStarted(iteration, ONE, { agent }),
    iterationEnded(iteration, ONE, "complete"),
    evidence(iteration, ONE, ["a.ts"]),
    gatesChecked(iteration, ONE, gate),
    judged(iteration, "rejected"),
  ];
}

function saidBlocked(iteration: number): readonly Event[] {
  return [
    iterationStarted(iteration, ONE),
    iterationEnded(iteration, ONE, "blocked"),
    evidence(iteration, ONE, []),
    judged(iteration, "blocked"),
  ];
}

function judged(iteration: number, verdict: "failed" | "rejected" | "blocked"): Event {
  return {
    type: "verdict.reached",
    run: "run-1",
    task: ONE.id,
    iteration,
    verdict,
    reasons: [],
    madeProgress: verdict === "rejected",
    retryAt: null,
    exitSignal: null,
  };
}

function block(reason: string): Extract<Event, { type: "task.blocked" }> {
  return { type: "task.blocked", run: "run-1", task: ONE.id, iteration: 1, reason };
}

function exhausted(): Event {
  return {
    type: "task.exhausted",
    run: "run-1",
    task: ONE.id,
    iteration: 1,
    iterations: 30,
    lastOutput: "",
  };
}

function suspended(successor: string | null): Event {
  return {
    type: "agent.suspended",
    run: "run-1",
    task: ONE.id,
    iteration: 2,
    agent: "stub",
    successor,
    why: "no files",
  };
}
