import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { EMPTY_STATE, type State } from "../../core/state.ts";
import { given, runStarted } from "../../../test/spec/given.ts";
import { LateWriter } from "./late-writer.ts";

const OPEN = given(runStarted()).state;

/** A writer that fails so often; answers what it has written. */
function writerFailing(
  times: number,
  code = "ENOENT",
): { readonly writer: LateWriter; readonly written: State[] } {
  const written: State[] = [];
  let left = times;
  const write = (state: State): void => {
    left -= 1;
    if (left >= 0)
      throw new Error("it cannot be written", { cause: Object.assign(new Error(code), { code }) });
    written.push(state);
  };
  return { writer: new LateWriter(write, 0), written };
}

async function settleLater(writer: LateWriter): Promise<void> {
  writer.settle(OPEN);
  await sleep(40);
}

test("what fails once, as an agent is deleting the folder, is written with the next fact", async () => {
  const { writer, written } = writerFailing(1);
  await settleLater(writer);
  expect(written).toEqual([]);
  await settleLater(writer);
  expect(written).toEqual([OPEN]);
});

test("what fails again and again is said", async () => {
  const { writer } = writerFailing(3);
  for (let tries = 0; tries < 3; tries += 1) await settleLater(writer);
  expect(() => writer.settle(OPEN)).toThrow("it cannot be written");
});

test("what fails for another reason is said at once", async () => {
  const { writer } = writerFailing(1, "ENOSPC");
  await settleLater(writer);
  expect(() => writer.settle(OPEN)).toThrow("it cannot be written");
});

test("the end of a run is written at once, or fails at once", () => {
  const { writer, written } = writerFailing(0);
  writer.settle(EMPTY_STATE);
  expect(written).toEqual([EMPTY_STATE]);
  expect(() => writerFailing(1).writer.settle(EMPTY_STATE)).toThrow("it cannot be written");
});

test("after the end of a run nothing is waited for", () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = timers();
  const { writer } = writerFailing(0);
  writer.settle(OPEN);
  expect(timers()).toBe(before + 1);
  writer.settle(EMPTY_STATE);
  expect(timers()).toBe(before);
});

test("what waits when nobody drives the run any longer is not written", async () => {
  const { writer, written } = writerFailing(0);
  writer.settle(OPEN);
  writer.rest();
  await settleLater(writerFailing(0).writer);
  expect(written).toEqual([]);
});
