import { expect, test } from "vitest";
import { given, runStarted, task, tasksObserved } from "../../test/spec/given.ts";
import { RalphError, type ErrorCode } from "../core/errors.ts";
import { lookAround } from "./look-around.ts";
import type { Ports } from "./ports.ts";

/** The only part of the outside that is looked at while no inbox file is out. */
function portsWith(code: ErrorCode): Ports {
  const observe = (): Promise<never> => Promise.reject(new RalphError(code, "not now"));
  return { source: { observe } } as unknown as Ports;
}

test.each(["bad-tasks", "unreachable"] as const)(
  "tasks that are %s leave those before in force",
  async (code) => {
    const { state } = given(runStarted(), tasksObserved(task("a")));
    expect(await lookAround(portsWith(code), state)).toEqual([]);
  },
);

test.each(["bad-tasks", "unreachable"] as const)(
  "the first look at tasks that are %s fails",
  async (code) => {
    const { state } = given(runStarted());
    await expect(lookAround(portsWith(code), state)).rejects.toMatchObject({ code });
  },
);

test("tasks that are gone are no passing trouble", async () => {
  const { state } = given(runStarted(), tasksObserved(task("a")));
  await expect(lookAround(portsWith("no-tasks"), state)).rejects.toMatchObject({ code: "no-tasks" });
});
