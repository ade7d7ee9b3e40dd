import type { Forecast } from "../../core/projections/charts.ts";
import type { Instant } from "../../core/time.ts";
import { dollars, duration, moment } from "./format.ts";

/** Where the budget will be at this rate; null without a budget. */
export function forecastSentence(forecast: Forecast | null, now: Instant): string | null {
  if (forecast === null) return null;
  const { budgetUsd, spentUsd, planUsd, reachedAt } = forecast;
  const spent = `${dollars(spentUsd)} of the budget of ${dollars(budgetUsd)} are spent.`;
  const plan = planUsd === null ? "" : ` At this rate the whole plan costs ${dollars(planUsd)}.`;
  if (spentUsd >= budgetUsd) return `${spent}${plan}`;
  if (reachedAt !== null) {
    const left = reachedAt > now ? ` (in ${duration(reachedAt - now)})` : "";
    return `${spent}${plan} The budget is used up at ${moment(reachedAt, now)}${left}.`;
  }
  return planUsd === null ? `${spent} It is too early to say more.` : `${spent}${plan} The budget is enough.`;
}
