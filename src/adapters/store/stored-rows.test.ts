import { expect, test } from "vitest";
import { EVENT_VERSION } from "../../core/events.ts";
import { upcast } from "./stored-rows.ts";

test("an event of today's version is left as it is", () => {
  const event = { type: "task.reset", task: "a" };
  expect(upcast(EVENT_VERSION, event)).toEqual(event);
});

test("an event of a newer version is refused with both versions", () => {
  expect(() => upcast(EVENT_VERSION + 1, {})).toThrow(
    expect.objectContaining({
      code: "state-unusable",
      message: expect.stringContaining(
        `their version is ${EVENT_VERSION + 1}, this ralph knows ${EVENT_VERSION}`,
      ),
    }),
  );
});

test("an event from before the first release is refused", () => {
  expect(() => upcast(2, {})).toThrow("the log holds events of an older ralph");
});
