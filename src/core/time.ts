/** Milliseconds since the epoch, UTC. */
export type Instant = number;

export const SECOND_MS = 1_000;

export function isoTime(at: Instant): string {
  return new Date(at).toISOString();
}

/** `14:05:09`, where the person is. */
export function clockTime(at: Instant): string {
  return new Date(at).toTimeString().slice(0, 8);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 };

/** `90s`, `45m` or `45min`, `2h`, `1h30m`; a bare number is seconds. Null when it is none of these. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1_000);
  if (!/^(\d+(\.\d+)?(ms|min|[smh])\s*)+$/.test(trimmed)) return null;
  const parts = trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|min|[smh])/g);
  let total = 0;
  for (const [, amount, unit] of parts) total += Number(amount) * (UNIT_MS[unit ?? "s"] ?? 0);
  return Math.round(total);
}

/** Between two readings of a clock that may have been set back. */
export function elapsedMs(from: Instant, to: Instant): number {
  return Math.max(0, to - from);
}

/** `47m 23s`: the two largest units that matter. */
export function formatDuration(given: number): string {
  const ms = Math.max(0, given);
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return ms < 10_000 && ms % 1_000 !== 0 ? `${(ms / 1_000).toFixed(1)}s` : `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours}h` : `${hours}h ${minutes % 60}m`;
}
