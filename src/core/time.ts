/** Milliseconds since the epoch, UTC. */
export type Instant = number;

export const SECOND_MS = 1_000;

export function isoTime(at: Instant): string {
  return new Date(at).toISOString();
}
