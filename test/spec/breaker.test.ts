import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Settings } from "../../src/core/settings.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  signals,
  task,
  tasksObserved,
} from "./given.ts";

const login = task("login");
const MINUTE = 60_000;

/** Only the breaker stops such a run. */
function unbraked(breaker: Partial<Settings["breaker"]> = {}, more: Partial<Settings> = {}): Event {
  return runStarted({
    limits: { ...settings().limits, maxStuck: 0, maxAttempts: 0 },
    breaker: { noProgress: 3, sameError: 5, outputDecline: 70, cooldownMs: 30 * MINUTE, ...breaker },
    interventions: { ...settings().interventions, thresholdNoFiles: 0, thresholdFalseCompletion: 0 },
    ...more,
  });
}

interface Shape {
  readonly progress?: boolean;
  readonly error?: string;
  readonly bytes?: number;
  readonly of?: typeof login;
}

/** Plays iterations of these shapes, judged by the loop itself. */
function played(start: readonly Event[], ...shapes: readonly Shape[]): ReturnType<typeof given> {
  let spec = given(...start);
  for (const [index, { progress = false, error = null, bytes = 1_000, of = login }] of shapes.entries()) {
    const number = index + 1;
    spec = spec
      .andThen(
        iterationStarted(number, of),
        iterationEnded(number, of, "none", {
          transcript: { path: "x", bytes, sha256: "" },
          signals: signals({ errorSignature: error }),
        }),
        evidence(number, of, progress ? ["a.ts"] : []),
      )
      .andThen();
  }
  return spec;
}

const idle: Shape = {};
const working: Shape = { progress: true };
const begun = [unbraked(), tasksObserved(login)];

function positionAfter(...shapes: readonly Shape[]): string {
  return played(begun, ...shapes).state.breaker.position;
}

describe("without progress", () => {
  test("the last iteration before the limit is on trial, and the next one opens it", () => {
    expect(positionAfter(idle)).toBe("CLOSED");
    expect(positionAfter(idle, idle)).toBe("HALF_OPEN");
    expect(positionAfter(idle, idle, idle)).toBe("OPEN");
    played(begun, idle, idle).wants("iterate:login");
    played(begun, idle, idle, idle).ends("stuck");
  });

  test("progress closes it, and counting begins anew", () => {
    expect(positionAfter(idle, idle, working)).toBe("CLOSED");
    expect(positionAfter(idle, idle, working, idle)).toBe("CLOSED");
    expect(positionAfter(idle, idle, working, idle, idle)).toBe("HALF_OPEN");
  });

  test("what a person is asked, a timeout, and what the service refused do not count", () => {
    const others = [
      iterationEnded(1, login, "none", { ending: { is: "timed-out", afterMs: 9 } }),
      iterationEnded(1, login, "blocked"),
      iterationEnded(1, login, "none", { failure: { class: "transient", message: "503" } }),
      iterationEnded(1, login, "none", { failure: { class: "limit", message: "429" } }),
      iterationEnded(1, login, "none", { ending: { is: "stopped" } }),
    ];
    for (const ended of others) {
      const spec = given(...begun, iterationStarted(1, login), ended, evidence(1, login, [])).andThen();
      expect(spec.state.breaker).toMatchObject({ position: "CLOSED", noProgress: 0 });
    }
  });

  test("it is kept across runs, with its reason and its history", () => {
    const opened = played(begun, idle, idle, idle).andThen({
      type: "run.ended",
      run: "run-1",
      outcome: "stuck",
      reason: "",
    });
    const { breaker } = opened.andThen(unbraked({}, {}), tasksObserved(login)).ends("stuck").state;
    expect(breaker.reason).toBe("no progress in 3 iterations in a row");
    expect(breaker.history.map(({ from, to }) => `${from} ${to}`)).toEqual([
      "CLOSED HALF_OPEN",
      "HALF_OPEN OPEN",
    ]);
  });

  test("0 turns it off", () => {
    const off = unbraked({ noProgress: 0 });
    played([off, tasksObserved(login)], idle, idle, idle, idle, idle).wants("iterate:login");
  });
});

describe("the same error", () => {
  const start = [unbraked({ noProgress: 0, sameError: 3 }), tasksObserved(login)];
  const failing = (error: string): Shape => ({ error });

  test("so many times without progress opens it", () => {
    const spec = played(start, failing("E: no module"), failing("E: no module"), failing("E: no module"));
    expect(spec.state.breaker).toMatchObject({
      position: "OPEN",
      reason: "the same error 3 times: E: no module",
    });
  });

  test("different errors do not", () => {
    played(start, failing("a"), failing("b"), failing("a"), failing("b"), failing("a")).wants(
      "iterate:login",
    );
  });

  test("progress between them makes them others", () => {
    played(start, failing("a"), failing("a"), working, failing("a"), failing("a")).wants("iterate:login");
  });
});

describe("an output that gets shorter", () => {
  const start = [unbraked({ noProgress: 0, sameError: 0 }), tasksObserved(login)];
  const usual = Array.from({ length: 5 }, (): Shape => ({ progress: true, bytes: 10_000 }));

  test("twice in a row puts it on trial, a third time opens it", () => {
    const short: Shape = { bytes: 2_900 };
    expect(played(start, ...usual, short).state.breaker.position).toBe("CLOSED");
    expect(played(start, ...usual, short, short).state.breaker.position).toBe("HALF_OPEN");
    expect(played(start, ...usual, short, short, short).state.breaker.position).toBe("OPEN");
  });

  test("not when it is short with progress, or only a bit shorter, or nobody knows what is usual", () => {
    const short: Shape = { bytes: 2_900 };
    const aBit: Shape = { bytes: 3_100 };
    expect(played(start, ...usual, aBit, aBit, aBit).state.breaker.position).toBe("CLOSED");
    expect(played(start, ...usual, { ...short, progress: true }, short).state.breaker.position).toBe(
      "CLOSED",
    );
    expect(played(start, ...usual.slice(1), short, short).state.breaker.position).toBe("CLOSED");
  });
});

describe("an open breaker", () => {
  const opened = played(begun, idle, idle, idle).andThen({
    type: "run.ended",
    run: "run-1",
    outcome: "stuck",
    reason: "",
  });
  const again = (...events: readonly Event[]): ReturnType<typeof given> => opened.andThen(...events);

  test("keeps the next run from starting an agent", () => {
    again(unbraked(), tasksObserved(login))
      .at(5 * MINUTE)
      .ends("stuck");
  });

  const edited = tasksObserved(task("login", { title: "other words" }));

  test("what changes in the run that opened it may be the agent's doing", () => {
    again(edited, unbraked(), edited)
      .at(5 * MINUTE)
      .ends("stuck");
  });

  test.each<[string, readonly Event[]]>([
    ["a commit", [{ ...unbraked(), head: "h9" } as Event, tasksObserved(login)]],
    ["an edit of the tasks", [unbraked(), { ...edited, run: "run-2" } as Event]],
    ["an edit of the configuration", [unbraked({}, { mode: "thorough" }), tasksObserved(login)]],
    [
      "unblocking",
      [
        { type: "task.unblocked", task: "login", reason: "", timeoutMs: null, by: "person" },
        unbraked(),
        tasksObserved(login),
      ],
    ],
    [
      "an answer",
      [
        { type: "question.answered", task: "login", answer: "x", by: "person" },
        unbraked(),
        tasksObserved(login),
      ],
    ],
    [
      "a message",
      [{ type: "steer.given", task: "login", id: "s1", text: "use v2" }, unbraked(), tasksObserved(login)],
    ],
    [
      "a reset",
      [
        {
          type: "breaker.moved",
          run: null,
          from: "OPEN",
          to: "HALF_OPEN",
          reason: "somebody reset it",
          head: null,
        },
        unbraked(),
        tasksObserved(login),
      ],
    ],
  ])("lets one more iteration through after %s", (_act, events) => {
    const spec = again(...events)
      .at(5 * MINUTE)
      .andThen()
      .at(5 * MINUTE);
    expect(spec.state.breaker.position).toBe("HALF_OPEN");
    spec.wants("iterate:login");
  });

  test("what we do ourselves is no act of a person", () => {
    const spec = again(
      { type: "question.answered", task: "login", answer: "x", by: "deadline" },
      unbraked(),
      tasksObserved(login),
    );
    spec.at(5 * MINUTE).ends("stuck");
  });

  test("tries again after the cool-down, also when the clock was put back meanwhile", () => {
    const spec = again({ ...unbraked(), head: "h0" } as Event, tasksObserved(login));
    spec.at(29 * MINUTE).ends("stuck");
    spec.at(31 * MINUTE).decides({ type: "breaker.moved", to: "HALF_OPEN" });
    spec.at(-MINUTE).decides({ type: "breaker.moved", to: "HALF_OPEN" });
  });

  test("never by itself when there is no cool-down", () => {
    const never = played([unbraked({ cooldownMs: 0 }), tasksObserved(login)], idle, idle, idle);
    never.at(24 * 60 * MINUTE).ends("stuck");
  });

  test("on trial, one iteration decides", () => {
    const trial = again(
      { type: "breaker.moved", run: null, from: "OPEN", to: "HALF_OPEN", reason: "r", head: null },
      unbraked(),
      tasksObserved(login),
    );
    const next = (files: readonly string[]): string =>
      trial
        .andThen(iterationStarted(4, login), iterationEnded(4, login, "none"), evidence(4, login, files))
        .andThen().state.breaker.position;
    expect(next([])).toBe("OPEN");
    expect(next(["a.ts"])).toBe("CLOSED");
  });
});

describe("a run that keeps going", () => {
  const tasks = ["a", "b", "c", "d"].map((id) => task(id));
  const keepGoing = unbraked({}, { keepGoing: true });
  const inVain = (index: number): Shape => ({ of: tasks[index]! });

  test("gives a task up after so many iterations without progress, and takes the next", () => {
    const spec = played([keepGoing, tasksObserved(...tasks)], inVain(0), inVain(0), inVain(0));
    expect(spec.state.tasks["a"]?.blockedReason).toBe("no progress in 3 iterations in a row");
    expect(spec.state.breaker.position).toBe("CLOSED");
    expect(spec.effects.map(({ key }) => key)).toContain("publish");
  });

  test("three tasks in a row without any progress open it for the whole run", () => {
    const start = [keepGoing, tasksObserved(...tasks)];
    const nine = [0, 0, 0, 1, 1, 1, 2, 2, 2].map(inVain);
    expect(played(start, ...nine.slice(0, 6)).state.breaker.position).toBe("CLOSED");
    expect(played(start, ...nine).state.breaker).toMatchObject({
      position: "OPEN",
      reason: "no progress at all in 3 tasks in a row",
    });
  });

  test("a task with progress between them makes it another row", () => {
    const shapes = [0, 0, 0, 1, 1, 1].map(inVain);
    const spec = played(
      [keepGoing, tasksObserved(...tasks)],
      ...shapes,
      { of: tasks[2]!, progress: true },
      ...[2, 2, 2].map(inVain),
    );
    expect(spec.state.breaker).toMatchObject({ position: "CLOSED", tasksWithoutProgress: 1 });
  });
});
