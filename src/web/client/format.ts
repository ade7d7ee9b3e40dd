import type { Forecast } from "../../core/views/run-list.ts";
import { capital } from "../../core/text.ts";
import type { Instant } from "../../core/time.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Of something that goes on: no fractions, they would only flicker. */
export function elapsed(ms: number): string {
  return duration(Math.floor(ms / SECOND) * SECOND);
}

/** `5m 23s`: the two largest units. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 10 * SECOND && ms % SECOND !== 0) return `${(ms / SECOND).toFixed(1)}s`;
  const whole = Math.max(0, Math.round(ms / SECOND) * SECOND);
  if (whole < MINUTE) return `${whole / SECOND}s`;
  if (whole < HOUR) return two(whole, MINUTE, "m", SECOND, "s");
  if (whole < DAY) return two(whole, HOUR, "h", MINUTE, "m");
  return two(whole, DAY, "d", HOUR, "h");
}

function two(ms: number, large: number, unit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % large) / small);
  const first = `${Math.floor(ms / large)}${unit}`;
  return rest === 0 ? first : `${first} ${rest}${smallUnit}`;
}

export function dollars(usd: number | null): string {
  if (usd === null) return "–";
  return usd !== 0 && usd < 0.095 ? `$${usd.toFixed(3)}` : `$${usd.toFixed(2)}`;
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount.toLocaleString("en")} ${amount === 1 ? one : many}`;
}

export function bytes(size: number): string {
  if (size < 1_000) return `${size} B`;
  if (size < 1_000_000) return `${(size / 1_000).toFixed(size < 10_000 ? 1 : 0)} kB`;
  return `${(size / 1_000_000).toFixed(1)} MB`;
}

/** `14:05`, or `14:05:09`. */
export function clockTime(at: Instant, withSeconds = false): string {
  return new Date(at).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    ...(withSeconds && { second: "2-digit" }),
  });
}

/** On an axis whose lines are so far apart. */
export function tickLabel(at: Instant, stepMs: number): string {
  if (stepMs >= DAY) return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return clockTime(at, stepMs < MINUTE);
}

/** The clock time of today, else the day too. */
export function moment(at: Instant, now: Instant): string {
  const date = new Date(at);
  if (date.toDateString() === new Date(now).toDateString()) return clockTime(at);
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  const year = date.getFullYear() === new Date(now).getFullYear() ? "" : ` ${date.getFullYear()}`;
  return `${day}${year} ${clockTime(at)}`;
}

/** For a tool tip: nothing left out. */
export function fullMoment(at: Instant): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "full", timeStyle: "medium" });
}

/** `gate passed` becomes `Gate passed.`; what begins with a name like `ui-004` keeps it. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const first = /^[a-z]+[,:;.]?(\s|$)/.test(trimmed) ? capital(trimmed) : trimmed;
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** The beginning of a long id is enough for people. */
export function shortId(id: string): string {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id) ? id.slice(0, 8) : id;
}

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
