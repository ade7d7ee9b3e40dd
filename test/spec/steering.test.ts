import { waitingMessages } from "../../src/core/views/status.ts";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { STEER_LENGTH_MAX } from "../../src/core/loop/steer.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  task,
  tasksObserved,
} from "./given.ts";

const login = task("login");
const docs = task("docs");
const started = [runStarted(), tasksObserved(login, docs)];

function says(text: string, of: string | null = "login", id = text): Event {
  return { type: "steer.given", task: of, id, text };
}

const about = { run: "run-1", task: "login", iteration: 1 } as const;
const HEADING = "## Message from the operator";

describe("a message of the operator's", () => {
  test("is in the next prompt of its task and in no other", () => {
    const spec = given(...started, says("use the v2 API"));
    expect(spec.nextPrompt(login)).toContain(`${HEADING}\nuse the v2 API\n`);
    expect(spec.nextPrompt(docs)).not.toContain(HEADING);
  });

  test("for nobody in particular is in the next prompt, whatever the task", () => {
    const spec = given(...started, says("be brief", null));
    expect(spec.nextPrompt(docs)).toContain("be brief");
  });

  test("is used when the iteration that had it in its prompt has its verdict, and said once", () => {
    const judged = given(
      ...started,
      says("use the v2 API"),
      iterationStarted(1, login),
      iterationEnded(1, login, "none"),
      evidence(1, login, ["a.ts"]),
    );
    judged.decides(
      { type: "verdict.reached" },
      { type: "steer.used", task: "login", iteration: 1, id: "use the v2 API", how: "prompt" },
      { type: "intervention.chosen" },
    );
    expect(judged.andThen().nextPrompt(login)).not.toContain(HEADING);
  });

  test.each([
    ["interrupted", { ending: { is: "interrupted" } }],
    ["stopped", { ending: { is: "stopped" } }],
    ["refused by its service", { failure: { class: "transient", message: "503" } }],
  ] as const)("is not lost with an iteration that was %s", (_, report) => {
    const spec = given(
      ...started,
      says("use the v2 API"),
      iterationStarted(1, login),
      runResumed(),
      iterationEnded(1, login, "none", report),
      evidence(1, login, []),
    ).andThen();
    expect(waitingMessages(spec.state)).toMatchObject([{ text: "use the v2 API", state: "waiting" }]);
  });

  test("for a task that is done meanwhile waits for nobody any more", () => {
    const done = [...started, says("too late"), tasksObserved(task("login", { done: true }), docs)];
    expect(waitingMessages(given(...done).state)).toEqual([]);
  });

  test("that comes while a prompt is at work waits for the next one", () => {
    const spec = given(
      ...started,
      says("first"),
      iterationStarted(1, login),
      says("second"),
      { ...about, type: "steer.deferred", id: "second" },
      iterationEnded(1, login, "none"),
      evidence(1, login, ["a.ts"]),
    ).andThen();
    expect(spec.nextPrompt(login)).toContain(`${HEADING}\nsecond\n`);
  });
});

describe("several messages", () => {
  test("keep their order", () => {
    const spec = given(...started, says("one"), says("two", null), says("other", "docs"), says("three"));
    expect(spec.nextPrompt(login)).toContain(`${HEADING}\none\n\ntwo\n\nthree\n`);
  });

  test("that do not fit together come one after another", () => {
    const half = (letter: string): string => letter.repeat(STEER_LENGTH_MAX / 2);
    const spec = given(...started, says(half("a")), says(half("b")), says("c"));
    const section = /## Message from the operator[^]*?(?=\n\n## )/.exec(spec.nextPrompt(login))?.[0] ?? "";
    expect(section).toBe(`${HEADING}\n${half("a")}`);
    const next = given(
      ...started,
      says(half("a")),
      says(half("b")),
      says("c"),
      iterationStarted(1, login),
      iterationEnded(1, login, "none"),
      evidence(1, login, ["a.ts"]),
    ).andThen();
    expect(next.nextPrompt(login)).toContain(`${HEADING}\n${half("b")}\n\nc\n`);
  });

  test("of the greatest length fit into 4,000 characters", () => {
    const spec = given(...started, says("x".repeat(STEER_LENGTH_MAX)));
    const section = /## Message from the operator[^]*?(?=\n\n## )/.exec(spec.nextPrompt(login))?.[0] ?? "";
    expect(section).toHaveLength(4_000);
  });
});

describe("while an agent runs", () => {
  const running = [...started, iterationStarted(1, login)];

  test("a message is given to it, the oldest first", () => {
    given(...running, says("one"), says("two")).wants("iterate:login", "tell:one");
    given(...running, says("one"), says("two"), {
      ...about,
      type: "steer.used",
      id: "one",
      how: "message",
    }).wants("iterate:login", "tell:two");
  });

  test("it is not asked twice when it takes none, nor told a later one first", () => {
    given(...running, says("one"), says("two"), { ...about, type: "steer.deferred", id: "one" }).wants(
      "iterate:login",
    );
  });

  test("messages for other tasks are not for it", () => {
    given(...running, says("one", "docs")).wants("iterate:login");
  });

  test("one that is to stop is told nothing more", () => {
    const stop = { type: "stop.requested", run: "run-1", urgency: "after-iteration" } as const;
    given(...running, says("one"), stop).wants("iterate:login");
  });

  test("what it was told is settled with accepted work, and otherwise told to the next one, which knows nothing", () => {
    const told: Event = { ...about, type: "steer.used", id: "one", how: "message" };
    const unfinished = given(
      ...running,
      says("one"),
      told,
      iterationEnded(1, login, "none"),
      evidence(1, login, ["a.ts"]),
    ).andThen();
    expect(unfinished.nextPrompt(login)).toContain(`${HEADING}\none\n`);
    const accepted = given(
      ...running,
      says("one"),
      told,
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a.ts"]),
    ).andThen();
    expect(waitingMessages(accepted.state)).toEqual([]);
  });
});
