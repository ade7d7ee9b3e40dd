import type { YAMLMap } from "yaml";
import { pairOf, scalarText } from "./entry-fields.ts";

/** Keys whose value says in a word how far a task is, and keys that say whether it is done. */
export const STATUS_KEYS = ["status", "state"];
export const DONE_KEYS = ["completed", "done", "passes", "complete"];

const DONE_WORDS = ["done", "completed", "complete", "closed", "finished", "passed"];
const GONE_WORDS = ["cancelled", "canceled", "skipped", "wontfix", "obsolete"];
const LATER_WORDS = ["deferred", "postponed", "onhold"];

export interface EntryState {
  readonly isDone: boolean;
  readonly setAside: "gone" | "later" | null;
}

/** What the keys of a task say about where it stands. */
export function entryState(map: YAMLMap): EntryState {
  const word = statusWord(map)
    .toLowerCase()
    .replaceAll(/[\s_-]/g, "");
  const isTicked = DONE_KEYS.some((key) =>
    /^(true|yes|on)$/i.test(scalarText(pairOf(map, [key])?.value) ?? ""),
  );
  const setAside = GONE_WORDS.includes(word) ? "gone" : LATER_WORDS.includes(word) ? "later" : null;
  return { isDone: isTicked || DONE_WORDS.includes(word), setAside };
}

/** As it is written; empty without one. */
export function statusWord(map: YAMLMap): string {
  return scalarText(pairOf(map, STATUS_KEYS)?.value)?.trim() ?? "";
}
