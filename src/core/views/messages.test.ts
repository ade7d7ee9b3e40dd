import { expect, test } from "vitest";
import { evolveAll } from "../loop/evolve.ts";
import type { Event, Recorded } from "../events.ts";
import { allMessages } from "./status.ts";

const given = (id: string): Event => ({ type: "steer.given", task: "one", id, text: `message ${id}` });
const used: Event = { type: "steer.used", run: "r", task: "one", iteration: 3, id: "a", how: "prompt" };

function statesAfter(...events: readonly Event[]): readonly string[] {
  const recorded = events.map((event, index): Recorded => ({ ...event, position: index + 1, at: index }));
  return allMessages(recorded, evolveAll(recorded)).map(({ id, state }) => `${id} ${state}`);
}

test("a message waits until an agent has worked from it", () => {
  expect(statesAfter(given("a"), given("b"), used)).toEqual(["a used", "b waiting"]);
});

test("what nobody worked from before its task was reset is dropped, not used", () => {
  expect(statesAfter(given("a"), given("b"), used, { type: "task.reset", task: "one" })).toEqual([
    "a used",
    "b dropped",
  ]);
});
