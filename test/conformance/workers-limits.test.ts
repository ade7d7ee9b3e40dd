import { afterEach, describe, expect, test } from "vitest";
import { until, type Steps } from "../e2e/project.ts";
import type { Fact } from "./crew.ts";
import { openWorkshop, type Hired, type Workshop } from "./workshop.ts";

let workshop: Workshop;
afterEach(() => workshop.dispose());

async function begin(limits: string, script: Readonly<Record<string, readonly Steps[]>>): Promise<Hired[]> {
  workshop = await openWorkshop({ tasks: Object.keys(script), script, config: `[limits]\n${limits}\n` });
  await workshop.office.ralph("submit");
  return Promise.all(["left", "middle", "right"].map((name) => workshop.hire(name)));
}

const hourOf = ({ at }: Fact): string => at.slice(0, 13);

/** Writes something, costs so much, and does not claim to be done. */
const costs = (usd: number): Steps => [
  { shell: 'echo "$RALPH_ITERATION" > "$RALPH_TASK_ID.txt"' },
  { usage: { cost_usd: usd, input_tokens: 1, output_tokens: 1 } },
];

test("ten calls an hour for three workers: ten iterations start, then all wait and say so", async () => {
  const script = Object.fromEntries(["a", "b", "c", "d"].map((task) => [task, [costs(0)]]));
  const workers = await begin("calls_per_hour = 10", script);
  const { at } = await workshop.fact("the calls are used up", ({ type }) => type === "calls.exhausted");
  for (const worker of workers)
    await until(`${worker.id} says why it waits`, () =>
      worker.stdout().includes("the calls of this hour are used up"),
    );
  await until("nobody holds a task", async () =>
    (await workshop.held()).every((name) => name.startsWith("@")),
  );
  const started = (await workshop.facts()).filter(({ type }) => type === "iteration.started");
  expect(started.filter((fact) => hourOf(fact) === at.slice(0, 13))).toHaveLength(10);
});

describe("a budget of one dollar for three workers", () => {
  const PRICES: Readonly<Record<string, readonly (readonly number[])[]>> = {
    "when each costs 30 cents": [[0.3], [0.3], [0.3], [0.3], [0.3]],
    "when they cost 5 to 40 cents": [
      [0.4, 0.05],
      [0.05, 0.3],
      [0.2, 0.1],
      [0.1, 0.35],
      [0.15, 0.05],
    ],
  };
  test.each(Object.keys(PRICES))("is passed by less than one iteration %s", async (name) => {
    const prices = PRICES[name] ?? [];
    const script = prices.map((own, index) => [`task-${index + 1}`, own.map(costs)] as const);
    await begin("budget_usd = 1", Object.fromEntries(script));
    expect(await workshop.office.ralph("submit", "--watch")).toMatchObject({ code: 5 });
    const facts = await workshop.facts();
    const spent = facts.flatMap(({ report }) => report?.usage?.cost_usd ?? []);
    const total = spent.reduce((sum, usd) => sum + usd, 0);
    expect(total).toBeGreaterThan(0.5);
    expect(total).toBeLessThanOrEqual(1 + Math.max(...spent));
  });
});
