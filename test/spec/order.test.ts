import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { gatesToKeep } from "../../src/core/loop/submission.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  settings,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

const login = task("login");

describe("the next task", () => {
  test("is the first of the file", () => {
    given(runStarted(), tasksObserved(login, task("docs"))).wants("iterate:login");
  });

  test("is the one with the lowest priority number; those without one come last", () => {
    given(
      runStarted(),
      tasksObserved(login, task("late", { priority: 2 }), task("early", { priority: 1 })),
    ).wants("iterate:early");
  });

  test("is one that was begun before one that was not", () => {
    const worked = [
      iterationStarted(1, task("docs")),
      iterationEnded(1, task("docs"), "none"),
      evidence(1, task("docs"), ["a"]),
    ];
    given(runStarted(), tasksObserved(login, task("docs")), ...worked)
      .andThen()
      .wants("iterate:docs");
  });

  test("waits for what it depends on", () => {
    given(runStarted(), tasksObserved(task("ui", { dependsOn: ["login"] }), login)).wants("iterate:login");
  });

  test("is not one that waits for something outside of the plan; without another the run is blocked by it", () => {
    const waiting = task("ui", { dependsOn: ["elsewhere"] });
    given(runStarted(), tasksObserved(waiting, login)).wants("iterate:login");
    const { effects } = given(runStarted(), tasksObserved(waiting, task("docs", { dependsOn: ["ui"] })));
    expect(effects).toMatchObject([
      {
        outcome: "blocked",
        reason: "ui waits for elsewhere, which is not done and not among the tasks of TODO.md",
      },
    ]);
    given(runStarted(), tasksObserved({ ...waiting, optional: true })).ends("completed");
  });

  test("is only one of those asked for", () => {
    given(runStarted({ onlyTasks: ["docs"] }), tasksObserved(login, task("docs"))).wants("iterate:docs");
  });

  test("uses every free lane", () => {
    given(runStarted({ lanes: 2 }), tasksObserved(login, task("docs"), task("ui"))).wants(
      "iterate:login",
      "iterate:docs",
    );
    given(
      runStarted({ lanes: 2 }),
      tasksObserved(login, task("docs")),
      iterationStarted(1, login, { lane: 2 }),
    ).wants("iterate:login", "iterate:docs");
  });
});

describe("an iteration goes its fixed way", () => {
  const facts: readonly (readonly [Event, string])[] = [
    [runStarted({ gates: [TESTS_GATE] }), "observe"],
    [tasksObserved(login), "iterate:login"],
    [iterationStarted(1, login), "iterate:login"],
    [iterationEnded(1, login, "complete"), "evidence:1"],
    [evidence(1, login, ["a.ts"]), "gates:1"],
  ];

  test.each(facts.map(([fact, wanted], index) => [fact.type, wanted, index] as const))(
    "after %s it wants %s",
    (_type, wanted, index) => {
      given(...facts.slice(0, index + 1).map(([fact]) => fact)).wants(wanted);
    },
  );

  test("the mark comes after the completion was recorded, and the end after the mark", () => {
    given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a"]),
    )
      .andThen()
      .wants("mark:login")
      .andThen({ type: "task.marked", run: "run-1", task: "login", commit: "c", parent: null })
      .ends("completed");
  });
});

describe("a run whose process died", () => {
  test("first ends what is left of the open iteration", () => {
    given(runStarted(), tasksObserved(login), iterationStarted(1, login), runResumed()).wants(
      "close-orphan:1",
    );
  });

  test("goes on with the evidence when the agent's end was recorded", () => {
    given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      runResumed(),
    ).wants("evidence:1");
  });

  test("the interrupted iteration costs the task nothing: it has one more", () => {
    const interrupted = iterationEnded(1, login, "none", { ending: { is: "interrupted" } });
    const spec = given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      runResumed(),
      interrupted,
      evidence(1, login, []),
    );
    spec.decides({ type: "verdict.reached", verdict: "failed" });
    expect(spec.andThen().state.tasks["login"]).toMatchObject({ iterations: 1, attempts: 0, stuckCount: 0 });
    expect(spec.andThen().nextCount(login)).toBe("2/30");
    expect(spec.andThen().state.run).toMatchObject({ iterations: 1, stuckCount: 0 });
  });

  test("keeps its number: the next iteration has the next one", () => {
    const spec = given(runStarted(), tasksObserved(login), iterationStarted(7, login), runResumed());
    expect(spec.state.lastIteration).toBe(7);
  });
});

test("nothing to do is done", () => {
  given(runStarted(), tasksObserved()).ends("completed");
});

describe("optional tasks", () => {
  const nice = task("nice", { optional: true });
  const done = task("login", { done: true });
  const included = { includeOptional: true } as const;
  const failed = { type: "task.failed", run: "run-1", task: "nice", iteration: 1, reason: "no" } as const;
  const blocked = {
    type: "task.blocked",
    run: "run-1",
    task: "nice",
    iteration: 1,
    reason: "no key",
  } as const;
  const inboxFile = {
    type: "letter.published",
    task: "nice",
    kind: "blocked",
    file: "f",
    sha256: "",
  } as const;
  const end = (...events: readonly Event[]): unknown => given(...events).effects;

  test("are left alone, and the end says how many there are", () => {
    given(runStarted(), tasksObserved(nice, login)).wants("iterate:login");
    expect(end(runStarted(), tasksObserved(done, nice))).toMatchObject([
      {
        outcome: "completed",
        reason: "every task is done; 1 optional one is left (ralph run --include-optional)",
      },
    ]);
    expect(end(runStarted(), tasksObserved(nice, { ...nice, id: "nicer" }))).toMatchObject([
      {
        outcome: "completed",
        reason: "there is nothing to do; 2 optional ones are left (ralph run --include-optional)",
      },
    ]);
  });

  test("are worked on after all others when they are included", () => {
    const both = tasksObserved({ ...nice, priority: 1 }, login);
    given(runStarted(included), both).wants("iterate:login");
    given(runStarted({ ...included, lanes: 2 }), both, iterationStarted(1, login)).wants("iterate:login");
    given(runStarted(included), tasksObserved(done, nice)).wants("iterate:nice");
  });

  test("are worked on when they are asked for by name", () => {
    given(runStarted({ onlyTasks: ["nice"] }), tasksObserved(done, nice)).wants("iterate:nice");
  });

  test("do not change how an included run ends", () => {
    const start = [runStarted({ ...included, keepGoing: true }), tasksObserved(done, nice)];
    given(...start, failed).ends("completed");
    given(...start, blocked, inboxFile).ends("completed");
    given(runStarted(included), tasksObserved(done, nice), blocked, inboxFile).ends("completed");
    given(runStarted(included), tasksObserved(login, nice), blocked, inboxFile).wants("iterate:login");
  });

  test("that another task waits for hold it up, and the end says so", () => {
    const ui = task("ui", { dependsOn: ["nice"] });
    expect(end(runStarted(), tasksObserved(ui, nice))).toMatchObject([
      { outcome: "blocked", reason: "ui waits for nice, which is optional (ralph run --include-optional)" },
    ]);
  });
});

test("the end of a run of chosen tasks counts the others that are open", () => {
  const done = task("login", { done: true });
  const tasks = tasksObserved(done, task("docs"), task("ui"), task("nice", { optional: true }));
  expect(given(runStarted({ onlyTasks: ["login"] }), tasks).effects).toMatchObject([
    { outcome: "completed", reason: "the chosen task is done, 2 others are open" },
  ]);
});

describe("the gates of a run that was interrupted while an agent ran", () => {
  const changed = settings({ gates: [{ ...TESTS_GATE, command: "true" }] });

  test("stay those that it started with, whatever the configuration says by now", () => {
    const died = given(runStarted({ gates: [TESTS_GATE] }), tasksObserved(login), iterationStarted(1, login));
    expect(gatesToKeep(died.state, changed)).toEqual([TESTS_GATE]);
    expect(gatesToKeep(died.state, settings({ gates: [TESTS_GATE] }))).toBeNull();
  });

  test("are those of the configuration when no agent ran, or another run begins", () => {
    const between = given(runStarted({ gates: [TESTS_GATE] }), tasksObserved(login));
    expect(gatesToKeep(between.state, changed)).toBeNull();
    expect(gatesToKeep(given().state, changed)).toBeNull();
  });
});
