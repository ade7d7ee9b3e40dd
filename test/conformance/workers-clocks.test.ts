import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { until, WORKS, type Running } from "../e2e/project.ts";
import { idIn, openWorkshop, type Workshop } from "./workshop.ts";

let workshop: Workshop;
afterEach(() => workshop.dispose());

const HOURS_MS = 3 * 3_600_000;

/** A worker whose machine believes that it is earlier or later than it is. */
async function hireWithClock(name: string, wrongByMs: number): Promise<Running> {
  const wrongClock = fileURLToPath(import.meta.resolve("../fixtures/wrong-clock.ts"));
  const clock = { NODE_OPTIONS: `--import=${wrongClock}`, RALPH_TEST_CLOCK_MS: `${wrongByMs}` };
  const running = workshop.machine(name, { env: { ...workshop.signs.env, ...clock } }).start("worker");
  await until(`${name} is here`, () => idIn(running) !== null);
  return running;
}

test("clocks that are hours apart: a limit of seconds lasts seconds, and everything is done in order", async () => {
  const once = 'test -e "$RALPH_TEST_SIGNS/$RALPH_TASK_ID" || { touch "$RALPH_TEST_SIGNS/$RALPH_TASK_ID"';
  const limit = "Error: 429 rate limit exceeded, try again in 3 seconds";
  const limited = [{ shell: `${once}; echo "${limit}" >&2; exit 1; }` }, ...WORKS];
  workshop = await openWorkshop({
    tasks: ["a", "b", "c", "d"],
    script: { a: [limited], d: [limited] },
    others: [WORKS],
  });
  await workshop.office.ralph("submit");
  await hireWithClock("early", -HOURS_MS);
  await hireWithClock("late", HOURS_MS);
  expect(await workshop.office.ralph("submit", "--watch")).toMatchObject({ code: 0 });
  const facts = await workshop.facts();
  const waits = facts.flatMap(({ at, retry_at }) =>
    retry_at == null ? [] : [Date.parse(retry_at) - Date.parse(at)],
  );
  expect(waits.length).toBeGreaterThan(0);
  for (const ms of waits) expect([ms > 0, ms < 60_000]).toEqual([true, true]);
  const times = facts.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  expect(Math.abs(Date.parse(times.at(-1) ?? "") - Date.now())).toBeLessThan(HOURS_MS / 3);
});
