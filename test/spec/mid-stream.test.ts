import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import {
  interventionChosen,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  task,
  tasksObserved,
  evidence,
} from "./given.ts";

const login = task("login");
const interventions = { ...settings().interventions, midStream: true };
const HALF = 450_000;

const running = [
  runStarted({ interventions }),
  tasksObserved(login),
  iterationStarted(1, login, { timeoutMs: 2 * HALF }),
];
const passed: Event = {
  type: "halftime.passed",
  run: "run-1",
  task: "login",
  iteration: 1,
  wroteFiles: false,
};

describe("correcting an agent while it runs", () => {
  test("is thought of once, when half of its time is over", () => {
    given(...running)
      .at(HALF - 1)
      .wants("iterate:login");
    given(...running)
      .at(HALF + 10)
      .wants("iterate:login", "mid-run:1");
    given(...running, passed)
      .at(HALF + 20)
      .wants("iterate:login");
  });

  test("wakes the engine at that moment", () => {
    expect(given(...running).at(1_000).wakeAt).toBe(HALF + 2);
    expect(given(...running, passed).at(1_000).wakeAt).toBeNull();
  });

  test("does not happen unless it is switched on", () => {
    const off = [runStarted(), ...running.slice(1)];
    given(...off)
      .at(HALF + 10)
      .wants("iterate:login");
  });

  test("that could not be delivered is told in the next prompt", () => {
    const undelivered = interventionChosen(1, login, {
      intervention: "mid_stream_prompt_injected",
      rule: "mid-stream",
      text: "You have not written a single file.",
    });
    const judged = given(
      ...running,
      passed,
      undelivered,
      iterationEnded(1, login, "none"),
      evidence(1, login, ["a.ts"]),
    ).andThen();
    expect(judged.nextPrompt(login)).toContain("You have not written a single file.");
  });
});
