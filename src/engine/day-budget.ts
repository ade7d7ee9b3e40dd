import type { Event } from "../core/events.ts";
import { isWarningDue, wouldPass } from "../core/limits/budget.ts";
import { nextCost, underWayUsd } from "../core/loop/brakes.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { Instant } from "../core/time.ts";
import type { Journal } from "./journal.ts";
import type { Ports } from "./ports.ts";

/** Whether a further iteration would pass the budget of the day, which others share. It, and a warning, are recorded. */
export async function isDayBudgetReached(id: TaskId, ports: Ports, journal: Journal): Promise<boolean> {
  const { run, plan } = journal.state;
  const budgetUsd = run?.settings.limits.budget.day ?? null;
  const task = plan?.tasks.find((planned) => planned.id === id);
  if (run === null || task === undefined || budgetUsd === null) return false;
  const spentUsd = await ports.log.sumCosts(startOfDay(ports.clock.now()));
  const fact = { run: run.id, budget: "day", spentUsd, budgetUsd } as const;
  const expectedUsd = spentUsd + underWayUsd(journal.state, run);
  const isReached = wouldPass(expectedUsd, nextCost(journal.state, run, task), budgetUsd);
  const isNear = isWarningDue(spentUsd, budgetUsd) && !run.budgetsNeared.includes("day");
  const events: Event[] = [];
  if (isNear) events.push({ type: "budget.neared", ...fact });
  if (isReached) events.push({ type: "budget.reached", ...fact });
  if (events.length > 0) await journal.record(...events);
  return isReached;
}

/** The operator's day, not Greenwich's. */
function startOfDay(now: Instant): Instant {
  return new Date(now).setHours(0, 0, 0, 0);
}
