import type { Instant } from "../core/time.ts";

/** `14:05:09`, where the person is. */
export function clockTime(at: Instant): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

/** Without the tenths, which would change with every look. */
export function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1_000) * 1_000);
}
