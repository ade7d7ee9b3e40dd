import { expect, test } from "vitest";
import { createGarbageCollection } from "./collect-garbage.ts";

test("what nobody holds any more is gone after so many agents, and not before", async () => {
  const collectGarbage = createGarbageCollection(3);
  const held = new WeakRef(Buffer.alloc(1_000_000));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  collectGarbage();
  collectGarbage();
  await turn();
  expect(held.deref()).toBeDefined();
  await turn();
  collectGarbage();
  await turn();
  expect(held.deref()).toBeUndefined();
});
