import { describe, expect, test } from "vitest";
import { planAct, type OperatorAct } from "../../src/core/loop/operator-act.ts";
import type { Event } from "../../src/core/events.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "./given.ts";

const one = task("one");
const BEGUN = [runStarted(), tasksObserved(one), iterationStarted(1, one)] as const;

function only([event]: readonly Event[]): Event {
  if (event === undefined) throw new Error("no fact");
  return event;
}

/** The fact that it would be, or why it cannot be. */
function act(events: readonly Event[], wanted: OperatorAct, isDriven = true): Event | string {
  const planned = planAct(given(...events).state, wanted, { isDriven, id: "m1" });
  return planned.is === "possible" ? only(planned.events) : planned.why;
}

describe("an answer", () => {
  const asked = [...BEGUN, iterationEnded(1, one, "undecided"), evidence(1, one, [])];
  const open = given(...asked).andThen().state;

  test("is recorded for a question that is open", () => {
    const planned = planAct(
      open,
      { do: "decide", task: "one", answer: " this " },
      { isDriven: false, id: "m1" },
    );
    expect(planned).toMatchObject({
      is: "possible",
      about: "one",
      events: [{ type: "question.answered", task: "one", answer: "this", by: "person" }],
    });
  });

  test("is refused when it is empty, or nobody asks", () => {
    expect(
      planAct(open, { do: "decide", task: "one", answer: " " }, { isDriven: false, id: "m1" }),
    ).toMatchObject({
      why: "the answer is empty",
    });
    expect(act(BEGUN, { do: "decide", task: "one", answer: "this" })).toBe("one asks no question");
  });
});

describe("a message", () => {
  test("goes to a task, or to whoever works next", () => {
    expect(act(BEGUN, { do: "steer", task: "one", text: "use tabs" })).toMatchObject({
      task: "one",
      id: "m1",
    });
    expect(act(BEGUN, { do: "steer", task: null, text: "use tabs" })).toMatchObject({ task: null });
  });

  test("is refused for a task that is done, or is not there", () => {
    const done = [runStarted(), tasksObserved({ ...one, done: true })];
    expect(act(done, { do: "steer", task: "one", text: "x" })).toContain("is done");
    expect(act(BEGUN, { do: "steer", task: "two", text: "x" })).toBe('there is no task "two"');
    expect(act(BEGUN, { do: "steer", task: "one", text: "\r\n" })).toBe("the message is empty");
  });
});

test("a message goes to a task that only the list knows by now", () => {
  const wanted = { do: "steer", task: "two", text: "use tabs" } as const;
  const planned = planAct(given(...BEGUN).state, wanted, { isDriven: true, id: "m1", listed: ["two"] });
  expect(planned).toMatchObject({ is: "possible", events: [{ type: "steer.given", task: "two" }] });
});

describe("cancelling", () => {
  test("needs somebody at work on it, and a process that drives the run", () => {
    expect(act(BEGUN, { do: "cancel", task: "one" })).toMatchObject({ type: "task.cancelled", task: "one" });
    expect(act(BEGUN, { do: "cancel", task: "one" }, false)).toBe("nothing to cancel: no run is under way");
    expect(act([runStarted(), tasksObserved(one)], { do: "cancel", task: "one" })).toContain(
      "has no loop under way",
    );
  });
});

describe("unblocking", () => {
  const blocked: Event = { type: "task.blocked", run: "run-1", task: "one", iteration: 1, reason: "no key" };

  test("keeps the reason; without one it says so", () => {
    expect(act([...BEGUN, blocked], { do: "unblock", task: "one", reason: "got one" })).toMatchObject({
      type: "task.unblocked",
      reason: "got one",
    });
    expect(act([...BEGUN, blocked], { do: "unblock", task: "one", reason: "" })).toMatchObject({
      reason: "no reason given",
    });
    expect(act(BEGUN, { do: "unblock", task: "one", reason: "" })).toBe("one is not blocked: it is doing");
  });

  test("gives its iterations an exact time limit, where one is named", () => {
    const wanted = { do: "unblock", task: "one", reason: "", timeoutMs: 1_800_000 } as const;
    const { state } = given(...BEGUN, blocked);
    expect(planAct(state, wanted, { isDriven: false, id: "m1" })).toMatchObject({
      events: [{ timeoutMs: 1_800_000 }],
      said: "one is no longer blocked; 30m each from now on",
    });
  });

  test("lets a run that is on try a merge again that waits for a clean checkout", () => {
    const about = { run: "run-1", task: "one", iteration: 1 } as const;
    const held = [...BEGUN, { type: "merge.held", ...about, why: "it has uncommitted changes" } as const];
    const unblock = { do: "unblock", task: "one", reason: "" } as const;
    expect(act(held, unblock)).toMatchObject({ type: "task.unblocked" });
    expect(act(held, unblock, false)).toBe("no run is under way to merge it; type: ralph unblock one");
    const freed = given(...held, act(held, unblock) as Event).state.tasks["one"];
    expect(freed?.merge).toEqual({ is: "due" });
  });
});

describe("the run", () => {
  test("is asked to stop once", () => {
    expect(act(BEGUN, { do: "stop" })).toMatchObject({ urgency: "after-iteration" });
    const stopping: Event = { type: "stop.requested", run: "run-1", urgency: "after-iteration" };
    expect(act([...BEGUN, stopping], { do: "stop" })).toContain("already");
  });

  test("tries again only while it waits", () => {
    expect(act(BEGUN, { do: "retry" })).toContain("does not wait");
    const waits: Event = { type: "wait.started", run: "run-1", until: Date.UTC(2030, 0), why: "limited" };
    expect(act([runStarted(), tasksObserved(one), waits], { do: "retry" })).toMatchObject({
      type: "retry.requested",
    });
  });
});
