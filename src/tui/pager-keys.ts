import type { Key } from "./key.ts";
import type { Model, Next, Request, TranscriptSearch } from "./model.ts";
import {
  beginSearch,
  isAtEnd,
  pagerHeight,
  scrolled,
  searchFrom,
  toBegin,
  toEnd,
  type Paged,
  type Pager,
} from "./pager.ts";
import { edited, textOf } from "./text-field.ts";

/** Keys while a transcript is open. */
export function pagerKey(model: Model, pager: Pager, key: Key): Next {
  if (pager.search !== null) return searchKey(model, pager, key);
  if (key.is === "escape" || isText(key, "q", "l"))
    return { model: { ...model, mode: { is: "look" } }, requests: [] };
  if (isText(key, "/")) return shown(model, { pager: beginSearch(pager) });
  if (isText(key, "n", "N")) return searched(model, pager, isText(key, "n") ? "forward" : "back");
  const paged = turned(pager, key, pagerHeight(model.size.rows));
  return paged === null ? { model, requests: [] } : shown(model, paged);
}

function turned(pager: Pager, key: Key, height: number): Paged | null {
  if (key.is === "up" || isText(key, "k")) return scrolled(pager, -1, height);
  if (key.is === "down" || isText(key, "j") || key.is === "enter") return scrolled(pager, 1, height);
  if (key.is === "page-up" || isText(key, "b")) return scrolled(pager, 1 - height, height);
  if (key.is === "page-down" || isText(key, " ")) return scrolled(pager, height - 1, height);
  if (key.is === "home" || isText(key, "g")) return toBegin(pager);
  if (key.is === "end" || isText(key, "G", "f", "F")) return toEnd(pager, height);
  return null;
}

function searchKey(model: Model, pager: Pager, key: Key): Next {
  const field = pager.search;
  if (field === null || key.is === "escape") return shown(model, { pager: { ...pager, search: null } });
  if (key.is !== "enter") return shown(model, { pager: { ...pager, search: edited(field, key) } });
  // Nothing typed: the same again.
  const query = textOf(field) === "" ? pager.query : textOf(field);
  return searched(model, { ...pager, search: null, query }, "forward");
}

function searched(model: Model, pager: Pager, direction: TranscriptSearch["direction"]): Next {
  const { iteration, query: text } = pager;
  const stays = shown(model, { pager });
  if (text === "") return stays;
  const search = { text, from: searchFrom(pager), direction };
  return { ...stays, requests: [{ want: "find", iteration, search }] };
}

function shown(model: Model, { pager, wants }: Paged): Next {
  return {
    model: { ...model, mode: { is: "pager", pager } },
    requests: wants === undefined ? [] : [readFor(pager, wants)],
  };
}

/** Asks for a piece; for an end that is known only if there is more of it. */
export function readFor(pager: Pager, from: number | null): Request {
  const { iteration, size } = pager;
  return { want: "read", iteration, from, unlessSize: from === null && isAtEnd(pager) ? size : null };
}

function isText(key: Key, ...texts: readonly string[]): boolean {
  return key.is === "text" && texts.includes(key.text);
}
