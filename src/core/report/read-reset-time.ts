import type { Instant } from "../time.ts";
import { readWallTime } from "./read-wall-time.ts";
import { findZone, UTC, type Zone } from "./zoned-time.ts";

const TEXT_LENGTH_MAX = 8_000;
/** From the word that announces a time to the end of that time. */
const EXPRESSION_LENGTH_MAX = 160;
const PAST_MS_MAX = 60_000;
const AHEAD_MS_MAX = 8 * 86_400_000;

/**
 * When a limit ends, in the words in which services say it; the first sensible time counts. Times that name no zone
 * are in `zone` (an IANA name). Null when the text says none, or only nonsense: past, or more than 8 days ahead.
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
  /(?<!p)reset[a-z_-]{0,24}|retry[a-z_-]{0,20}|\bagain\b|\bavailable\b|\buntil\b|\bwait(?:ing)?\b|\brenew(?:s|ed|al)?\b|\|(?=\d{10})|(?:^|[·∙(,;]\s?)in(?=\s{1,3}[\da])/gi;

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

const UNITS: readonly (readonly [name: RegExp, ms: number])[] = [
  [/^(?:ms|milli)/i, 1],
  [/^s/i, 1_000],
  [/^m/i, 60_000],
  [/^h/i, 3_600_000],
  [/^d/i, 86_400_000],
  [/^w/i, 7 * 86_400_000],
];

/** "5m 30s", "1 hour, 20 minutes and 5 seconds", "1h2m3.5s", "an hour"; in milliseconds. */
function readDuration(text: string): number | null {
  const part =
    /(?:,?\s{0,3}(?:and\s{1,2})?)?(\d{1,9}(?:\.\d{1,9})?|an?(?=\s)|one(?=\s))\s{0,3}(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)(?![a-z])/iy;
  let sum: number | null = null;
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [, count = "", unit = ""] = found;
    const ms = UNITS.find(([name]) => name.test(unit))?.[1] ?? 0;
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
