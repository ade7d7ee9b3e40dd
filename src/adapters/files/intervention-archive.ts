import { lstatSync, readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { interventionsDocument } from "../../core/projections/interventions.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";

/** More than months of the busiest project; what is larger is not ours. */
const BYTES_MAX = 256 * 1024 * 1024;

/** Adds serialised entries to a compressed file of the same form; what is in it stays, nothing comes twice. */
export function addToArchive(path: string, entries: readonly string[]): void {
  const kept = entriesIn(path);
  const known = new Set(kept.map(identity));
  const added = entries.filter((entry) => !known.has(identity(entry)));
  if (added.length === 0) return;
  writeFileAtomically(path, gzipSync(interventionsDocument([...kept, ...added])));
}

function entriesIn(path: string): readonly string[] {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isFile() || stat.size > BYTES_MAX) return [];
    const text = gunzipSync(readFileSync(path), { maxOutputLength: BYTES_MAX }).toString("utf8");
    const { events } = JSON.parse(text) as { readonly events: readonly unknown[] };
    return events.map((event) => JSON.stringify(event));
  } catch {
    // Damaged, or never ours: the log still has what belongs in it.
    return [];
  }
}

/** What makes two entries the same event. */
function identity(entry: string): string {
  const { iteration, event_type, timestamp, rule, message } = JSON.parse(entry) as Record<string, unknown>;
  return JSON.stringify([iteration, event_type, timestamp, rule, message]);
}
