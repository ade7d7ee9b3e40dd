/** Milliseconds since the epoch, UTC. */
export type Instant = number;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;

export function isoTime(at: Instant): string {
  return new Date(at).toISOString();
}
