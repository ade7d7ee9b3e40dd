import { expect, test } from "vitest";
import { askPlugin } from "./ask-plugin.ts";

const PART = { plugin: "mine", kind: "guard", name: "strict" } as const;
const NAME = 'the guard "strict" of the plugin "mine"';

test("an answer comes through, given at once or later", async () => {
  expect(await askPlugin(PART, 1_000, () => 1)).toBe(1);
  expect(await askPlugin(PART, 1_000, async () => 2)).toBe(2);
});

test("what it throws is told with its name, whatever it is", async () => {
  const failing = (thrown: unknown) =>
    askPlugin(PART, 1_000, () => {
      throw thrown;
    });
  await expect(failing(new Error("no disk"))).rejects.toThrow(`${NAME} failed: no disk`);
  await expect(failing("text")).rejects.toThrow(`${NAME} failed: text`);
  await expect(failing(undefined)).rejects.toThrow(`${NAME} failed: undefined`);
});

test("who does not answer in time is told to stop, and named", async () => {
  let signal: AbortSignal | null = null;
  const asked = askPlugin(PART, 100, (given) => {
    signal = given;
    return new Promise<never>(() => {});
  });
  await expect(asked).rejects.toMatchObject({
    message: `${NAME} did not answer within 0.1s`,
    isTimeout: true,
  });
  expect(signal).toMatchObject({ aborted: true });
});

test("nobody waits for an answer that is no longer wanted", async () => {
  const unwanted = new AbortController();
  const asked = askPlugin(PART, 60_000, () => new Promise<never>(() => {}), unwanted.signal);
  unwanted.abort();
  await expect(asked).rejects.toThrow(`${NAME} was stopped`);
});
