import type { Instant } from "../time.ts";
import { findZone, momentsAt, type Zone } from "./zoned-time.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * The moment that a date, a weekday or a time of day at the very start of the text means, the next one after `now`
 * where more than one could be meant. What names no zone is in `home`; a date without a time is its first moment.
 */
export function readWallTime(text: string, now: Instant, home: Zone): Instant | null {
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
