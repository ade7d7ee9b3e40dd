import type { Instant } from "../time.ts";

const TEXT_LENGTH_MAX = 8_000;
/** From the word that announces a time to the end of that time. */
const EXPRESSION_LENGTH_MAX = 160;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PAST_MS_MAX = MINUTE_MS;
/** Some limits last until the end of a month. */
const DAYS_AHEAD_MAX = 40;

/**
 * When a limit ends, in the words in which services say it; the first sensible time counts. Times that name no zone
 * are in `zone` (an IANA name). Null when the text says none, or only nonsense: past, or more than 40 days ahead.
 */
export function readResetTime(text: string, now: Instant, zone: string): Instant | null {
  const said = text.slice(0, TEXT_LENGTH_MAX);
  const home = findZone(zone) ?? (() => 0);
  for (const announced of said.matchAll(ANNOUNCEMENTS)) {
    const end = announced.index + announced[0].length;
    const at = readMoment(announced[0], said.slice(end, end + EXPRESSION_LENGTH_MAX), now, home);
    if (at !== null && at >= now - PAST_MS_MAX && at <= now + DAYS_AHEAD_MAX * DAY_MS) return at;
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
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
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

/**
 * The moment that a date, a weekday or a time of day at the very start of the text means, the next one after `now`
 * where more than one could be meant. What names no zone is in `home`; a date without a time is its first moment.
 */
function readWallTime(text: string, now: Instant, home: Zone): Instant | null {
  const said = EXPRESSION.exec(text)?.groups ?? {};
  const { iso, us, eu, near, weekday } = said;
  const isDay = [iso, us, eu, near].some((one) => one !== undefined);
  const time = timeOfDay(said);
  if (time === "nonsense" || (time === null && !isDay && weekday === undefined)) return null;
  const zone = findZone(said["zone"]?.replace(/\W+$/, "") ?? "") ?? home;
  const today = Math.floor((now + zone(now)) / DAY_MS);
  // Yesterday too: clocks that are set back at midnight show it again.
  for (let day = today - 1; day <= today + DAYS_AHEAD_MAX; day += 1) {
    const moments = isMeant(said, day, today) ? momentsAt(day * DAY_MS + (time ?? 0), zone) : [];
    const next = moments.find((at) => (isDay ? at >= now - PAST_MS_MAX : at > now));
    if (next !== undefined) return next;
  }
  return null;
}

/** Days are counted from the epoch. */
function isMeant({ iso, us, eu, near, weekday }: Said, day: number, today: number): boolean {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  if (iso !== undefined) return iso === date;
  const words = us ?? eu;
  if (words !== undefined) {
    const [ofMonth, year = ""] = words.match(/\d+/g) ?? [];
    const month = MONTHS.indexOf(/[a-z]{3}/i.exec(words)?.[0].toLowerCase() ?? "") + 1;
    const [, dateMonth, dateDay] = date.split("-").map(Number);
    return month === dateMonth && Number(ofMonth) === dateDay && date.startsWith(year);
  }
  if (near !== undefined) return day === today + (near.toLowerCase() === "today" ? 0 : 1);
  // The epoch was a Thursday.
  return weekday === undefined || WEEKDAYS.indexOf(weekday.slice(0, 3).toLowerCase()) === (day + 4) % 7;
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

/** What to add to a moment to get the time on the wall, in milliseconds as if the wall were UTC. */
type Zone = (at: Instant) => number;

/** By its IANA name, an offset (`+05:30`, `GMT-3`) or a short name people use; null when nobody knows it. */
function findZone(name: string): Zone | null {
  const fixed = fixedOffset(name);
  if (fixed !== null) return Math.abs(fixed) < DAY_MS ? () => fixed : null;
  try {
    const timeZone = SHORT_NAMES.get(name.toLowerCase()) ?? name;
    const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
    return (at) =>
      fixedOffset(format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "") ?? 0;
  } catch {
    // Intl has no other way to say that it does not know the name.
    return null;
  }
}

function fixedOffset(name: string): number | null {
  const [, sign, hours, minutes] = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d\d))?$/i.exec(name) ?? [];
  if (sign === undefined) return null;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0)) * MINUTE_MS;
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

/** When the wall shows this time (in milliseconds as if it were UTC): once, or twice when clocks are set back. */
function momentsAt(wall: number, zone: Zone): readonly Instant[] {
  const before = wall - zone(wall - DAY_MS);
  const after = wall - zone(wall + DAY_MS);
  const moments = [before, after].filter((at) => at + zone(at) === wall);
  // A time that clocks set forward jump over comes an hour later.
  return moments.length === 0 ? [before] : [...new Set(moments)].toSorted((one, other) => one - other);
}
