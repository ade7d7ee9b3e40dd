import { expect, test } from "vitest";
import { createGarbageCollection } from "./collect-garbage.ts";

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

test("it is collected after so many agents, each time, and not before", async () => {
  let collections = 0;
  const collectGarbage = createGarbageCollection(3, () => () => (collections += 1));
  const counts: number[] = [];
  for (let agents = 1; agents <= 7; agents += 1) {
    collectGarbage();
    await nextTurn();
    counts.push(collections);
  }
  expect(counts).toEqual([0, 0, 1, 1, 1, 2, 2]);
});

test("what nobody holds any more is gone then", async () => {
  const collectGarbage = createGarbageCollection(1);
  const held = new WeakRef(Buffer.alloc(1_000_000));
  await nextTurn();
  collectGarbage();
  await nextTurn();
  expect(held.deref()).toBeUndefined();
});
