import type { Instant } from "../../core/time.ts";
import type { ListedProcess } from "./platform/process-listing.ts";

/** Whom to look for. */
export interface Sought {
  /** What the family has in its environment. */
  readonly entry: string;
  /** Who was started, in a group of its own where there are groups; null when only the entry is known. */
  readonly leader: number | null;
  readonly startedAt: Instant;
  /** Who looks: never part of it. */
  readonly self: number;
}

/** Systems count starts by the second, and not always by the same clock. */
const SLACK_MS = 2_000;

/** The members of a family among all processes: by group, by what their environment has, and by their parents. */
export function familyInListing(
  rows: readonly ListedProcess[],
  { entry, leader, startedAt, self }: Sought,
): readonly ListedProcess[] {
  const ownGroup = rows.find(({ pid }) => pid === self)?.group ?? null;
  const candidates = rows.filter(({ pid }) => pid > 1 && pid !== self);
  const members = new Set(
    candidates.filter(({ pid, group, words }) => pid === leader || group === leader || words.includes(entry)),
  );
  const groups = new Set([...members].map(({ group }) => group).filter((group) => group !== null));
  if (ownGroup !== null) groups.delete(ownGroup);
  for (const row of candidates) if (row.group !== null && groups.has(row.group)) members.add(row);
  // On Windows the parent's number stays when it is gone, and may be another's that came later.
  const parents = new Map([...members].map((row) => [row.pid, row.startedAt]));
  if (leader !== null && !parents.has(leader)) parents.set(leader, startedAt);
  let before: number;
  do {
    before = members.size;
    for (const row of candidates) {
      const since = parents.get(row.parent);
      if (since === undefined || row.startedAt + SLACK_MS < since) continue;
      members.add(row);
      parents.set(row.pid, row.startedAt);
    }
  } while (members.size > before);
  return [...members];
}
