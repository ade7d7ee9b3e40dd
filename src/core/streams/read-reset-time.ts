import type { Instant } from "../time.ts";

const TEXT_LENGTH_MAX = 8_000;
/** From the word that announces a time to the end of that time. */
const EXPRESSION_LENGTH_MAX = 160;
const PAST_MS_MAX = 60_000;
/** Some limits last until the end of a month. */
const AHEAD_MS_MAX = 40 * 86_400_000;

/**
 * When a limit ends, in the words in which services say it; the first sensible time counts. Times that name no zone
 * are in `zone` (an IANA name). Null when the text says none, or only nonsense: past, or more than 40 days ahead.
 */
export function readResetTime(text: string, now: Instant, zone: string): Instant | null {
  const said = text.slice(0, TEXT_LENGTH_MAX);
  const home = findZone(zone) ?? UTC;
  for (const announced of said.matchAll(ANNOUNCEMENTS)) {
    const end = announced.index + announced[0].length;
    const at = readMoment(announced[0], said.slice(end, end + EXPRESSION_LENGTH_MAX), now, home);
    if (at !== null && at >= now - PAST_MS_MAX && at <= now + AHEAD_MS_MAX) return at;
  }
  return null;
}

/**
 * Words, headers and keys before a time. A time without one is when something was logged or sent. A `|` and a
 * lonely `in` announce only an epoch and a duration.
 */
const ANNOUNCEMENTS =
  /(?<!p)reset[a-z_-]{0,24}|retry[a-z_-]{0,20}|\bagain\b|\bregain access\b|\bavailable\b|\buntil\b|\bwait(?:ing)?\b|\brenew(?:s|ed|al)?\b|\|(?=\d{10})|(?:^|[·∙(,;]\s?)in(?=\s{1,3}[\da])/gi;

const FILLER =
  /^(?:[\s"'\\:=({,~·∙–—-]|(?:at|in|on|by|after|about|around|approximately|roughly|less than|is|are|will|be|to|for|from|the|time|every day|daily|seconds(?=["'\\]{0,3}:)|limits?|your|again)(?![\w/])){1,32}/i;

function readMoment(announcement: string, text: string, now: Instant, home: Zone): Instant | null {
  const filler = FILLER.exec(text)?.[0] ?? "";
  const rest = text.slice(filler.length);
  const epoch = /^(?:(\d{10})(?:\.\d{1,9})?|(\d{13}))(?!\d)/.exec(rest);
  if (epoch !== null) return epoch[2] === undefined ? Number(epoch[1]) * 1_000 : Number(epoch[2]);
  if (announcement === "|") return null;
  const duration = readDuration(rest) ?? readHeader(announcement, filler, rest);
  if (duration !== null) return now + Math.round(duration);
  return /(?:^|\W)in$/i.test(announcement) ? null : readWallTime(rest, now, home);
}

/** In milliseconds, by the first letter. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** "5m 30s", "1 hour, 20 minutes and 5 seconds", "1h2m3.5s", "an hour"; in milliseconds. */
function readDuration(text: string): number | null {
  const part =
    /(?:,?\s{0,3}(?:and\s{1,2})?)?(\d{1,9}(?:\.\d{1,9})?|an?(?=\s)|one(?=\s))\s{0,3}(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)(?![a-z])/iy;
  let sum: number | null = null;
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [, count = "", unit = ""] = found;
    const ms = /^(?:ms|milli)/i.test(unit) ? 1 : (UNITS[unit.charAt(0).toLowerCase()] ?? 0);
    sum = (sum ?? 0) + (/^\d/.test(count) ? Number(count) : 1) * ms;
  }
  return sum;
}

/** A number without a unit, as headers and fields have it: seconds, unless the name says otherwise. */
function readHeader(name: string, separator: string, text: string): number | null {
  if (!/^re(?:set|try)/i.test(name) || !/[:=]/.test(separator)) return null;
  const count = /^\d{1,9}(?:\.\d{1,9})?(?=["'\\]{0,3}\s{0,3}(?:$|[\n,;})\]]|\.(?!\d)))/.exec(text)?.[0];
  return count === undefined ? null : Number(count) * (/ms$|milli/i.test(name) ? 1 : 1_000);
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * The moment that a date, a weekday or a time of day at the very start of the text means, the next one after `now`
 * where more than one could be meant. What names no zone is in `home`; a date without a time is its first moment.
 */
function readWallTime(text: string, now: Instant, home: Zone): Instant | null {
  const found = EXPRESSION.exec(text);
  const said = found?.groups;
  if (said === undefined || found?.[0] === "") return null;
  const time = timeOfDay(said);
  if (time === "nonsense") return null;
  const zone = findZone(said["zone"]?.replace(/\W+$/, "") ?? "") ?? home;
  const today = Math.floor((now + zone.offsetAt(now)) / DAY_MS);
  const days = daysMeant(said, today);
  if (days === null) {
    if (time === null) return null;
    // Yesterday too: clocks that are set back at midnight show it again.
    return momentsOn([-1, 0, 1, 2].map((ahead) => today + ahead)).find((at) => at > now) ?? null;
  }
  const isRecurring = said["weekday"] !== undefined && dateOf(said) === null;
  return momentsOn(days).find((at) => (isRecurring ? at > now : at >= now - MINUTE_MS)) ?? null;

  function momentsOn(days: readonly number[]): readonly Instant[] {
    return days.flatMap((day) => momentsAt(day * DAY_MS + (typeof time === "number" ? time : 0), zone));
  }
}

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const DAY_NAME = String.raw`(?:(?<weekday>sun|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?)(?:day)?|(?<near>today|tomorrow))(?![a-z])`;
const MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\\.?";
const DATE = String.raw`(?<iso>\d{4}-\d\d-\d\d)(?!\d)|(?<us>${MONTH}\s{1,2}\d{1,2}(?:st|nd|rd|th)?(?!\d)(?:,?\s{1,2}\d{4}(?!\d))?)|(?<eu>\d{1,2}(?:st|nd|rd|th)?\s{1,2}${MONTH}(?:,?\s{1,2}\d{4}(?!\d))?)`;
const CLOCK = String.raw`(?<hour>\d{1,2})(?!\d)(?::(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?(?:\s{0,2}(?<half>[ap])\.?m(?![a-z]))?|(?<named>noon|midnight)`;
const ZONE = String.raw`\.?\s{0,2}\(?\s?(?<zone>[a-z][\w/+:-]{0,40}|[+-]\d\d:?\d\d)`;
const EXPRESSION = new RegExp(
  String.raw`^(?:${DAY_NAME}[,.]?\s{0,3}(?:at\s|on\s|the\s)?)?(?:(?:${DATE})(?:T|[\s,]{0,3}(?:at\s{1,2})?))?(?:(?:${CLOCK})(?:${ZONE})?)?`,
  "i",
);

type Said = Readonly<Record<string, string | undefined>>;

/** In milliseconds after midnight; null when there is none. */
function timeOfDay(said: Said): number | "nonsense" | null {
  const { hour, minute, half, named } = said;
  if (named !== undefined) return named.toLowerCase() === "noon" ? DAY_MS / 2 : 0;
  if (hour === undefined) return null;
  const [hours, minutes, seconds] = [hour, minute, said["second"]].map((digits) => Number(digits ?? 0));
  if (hours === undefined || minutes === undefined || seconds === undefined) return "nonsense";
  const isClock = minute !== undefined || half !== undefined;
  if (!isClock || minutes > 59 || seconds > 59 || hours > (half === undefined ? 23 : 12)) return "nonsense";
  const inDay = half === undefined ? hours : (hours % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const milliseconds = Math.floor(Number(`0.${said["fraction"] ?? 0}`) * 1_000 + 1e-6);
  return (inDay * 60 + minutes) * MINUTE_MS + seconds * 1_000 + milliseconds;
}

/** As days since the epoch, in the order in which they come; null when the text names none. */
function daysMeant(said: Said, today: number): readonly number[] | null {
  const date = dateOf(said);
  if (date !== null) {
    const thisYear = new Date(today * DAY_MS).getUTCFullYear();
    const years = date.year === null ? [thisYear, thisYear + 1] : [date.year];
    return years.map((year) => dayNumber(year, date.month, date.day)).filter((day) => day !== null);
  }
  const { weekday, near } = said;
  if (near !== undefined) return [near.toLowerCase() === "today" ? today : today + 1];
  if (weekday === undefined) return null;
  const wanted = WEEKDAYS.indexOf(weekday.slice(0, 3).toLowerCase());
  // The epoch was a Thursday.
  const ahead = (((wanted - (today + 4)) % 7) + 7) % 7;
  return [today + ahead, today + ahead + 7];
}

interface CalendarDate {
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
}

function dateOf({ iso, us, eu }: Said): CalendarDate | null {
  if (iso !== undefined) {
    const [year, month, day] = iso.split("-").map(Number);
    return { year: year ?? 0, month: month ?? 0, day: day ?? 0 };
  }
  const words = us ?? eu;
  if (words === undefined) return null;
  const [day, year] = (words.match(/\d+/g) ?? []).map(Number);
  const name = /[a-z]{3,}/i.exec(words)?.[0].slice(0, 3).toLowerCase() ?? "";
  return { year: year ?? null, month: MONTHS.indexOf(name) + 1, day: day ?? 0 };
}

function dayNumber(year: number, month: number, day: number): number | null {
  const at = Date.UTC(year, month - 1, day);
  // 31 November would be 1 December.
  return new Date(at).getUTCDate() === day && new Date(at).getUTCMonth() === month - 1 ? at / DAY_MS : null;
}

/** Where the clocks on the wall show the same time. */
interface Zone {
  /** What to add to a moment to get the time on the wall, in milliseconds as if the wall were UTC. */
  offsetAt(at: Instant): number;
}

const UTC: Zone = { offsetAt: () => 0 };

const FIXED = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d\d))?$/i;

/** By its IANA name, an offset (`+05:30`, `GMT-3`) or a short name people use; null when nobody knows it. */
function findZone(name: string): Zone | null {
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

/** When the wall shows this time (in milliseconds as if it were UTC): once, or twice when clocks are set back. */
function momentsAt(wall: number, zone: Zone): readonly Instant[] {
  const before = wall - zone.offsetAt(wall - DAY_MS);
  const after = wall - zone.offsetAt(wall + DAY_MS);
  const moments = [before, after].filter((at) => at + zone.offsetAt(at) === wall);
  // A time that clocks set forward jump over comes an hour later.
  return moments.length === 0 ? [before] : [...new Set(moments)].toSorted((one, other) => one - other);
}
