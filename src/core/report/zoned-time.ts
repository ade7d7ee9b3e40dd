import type { Instant } from "../time.ts";

/** Where the clocks on the wall show the same time. */
export interface Zone {
  /** What to add to a moment to get the time on the wall, in milliseconds as if the wall were UTC. */
  offsetAt(at: Instant): number;
}

export const UTC: Zone = { offsetAt: () => 0 };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FIXED = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d\d))?$/i;

/** By its IANA name, an offset (`+05:30`, `GMT-3`) or a short name people use; null when nobody knows it. */
export function findZone(name: string): Zone | null {
  const fixed = FIXED.exec(name);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3] ?? 0);
    const offset = (fixed[1] === "-" ? -minutes : minutes) * MINUTE_MS;
    return minutes < 24 * 60 ? { offsetAt: () => offset } : null;
  }
  const timeZone = SHORT_NAMES.get(name.toLowerCase()) ?? name;
  try {
    return namedZone(timeZone);
  } catch {
    // Intl has no other way to say that it does not know the name.
    return null;
  }
}

/** Who says PST in July means the clocks in Los Angeles. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    UTC: "z utc gmt",
    "America/Los_Angeles": "pt pst pdt pacific",
    "America/Denver": "mt mst mdt mountain",
    "America/Chicago": "ct cst cdt central",
    "America/New_York": "et est edt eastern",
    "Europe/London": "bst",
    "Europe/Berlin": "cet cest",
    "Asia/Kolkata": "ist",
    "Asia/Tokyo": "jst",
  }).flatMap(([zone, names]) => names.split(" ").map((name): [string, string] => [name, zone])),
);

function namedZone(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return {
    offsetAt(at) {
      const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
      const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
      const date = Date.UTC(part("year"), part("month") - 1, part("day"));
      const wall = date + ((part("hour") * 60 + part("minute")) * 60 + part("second")) * 1_000;
      return wall - Math.floor(at / 1_000) * 1_000;
    },
  };
}

/**
 * When the wall shows this time (in milliseconds as if it were UTC), earliest first: once, or twice when clocks are
 * set back. A time that clocks set forward jump over gives the moment at which they jump.
 */
export function momentsAt(wall: number, zone: Zone): readonly Instant[] {
  const before = zone.offsetAt(wall - DAY_MS);
  const after = zone.offsetAt(wall + DAY_MS);
  const moments = [...new Set([before, after])]
    .map((offset) => wall - offset)
    .filter((at) => at + zone.offsetAt(at) === wall)
    .toSorted((one, other) => one - other);
  return moments.length > 0 ? moments : [firstWith(after, wall - after, wall - before, zone)];
}

/** Between a moment that does not have the offset and a later one that has. */
function firstWith(offset: number, from: Instant, to: Instant, zone: Zone): Instant {
  let [without, having] = [from, to];
  while (having - without > 1) {
    const middle = Math.floor((without + having) / 2);
    if (zone.offsetAt(middle) === offset) having = middle;
    else without = middle;
  }
  return having;
}
