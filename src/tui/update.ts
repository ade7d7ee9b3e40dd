import { unreachable } from "../core/unreachable.ts";
import { confirmKey, leaveKey, lookKey, typeKey, just } from "./look-keys.ts";
import { edited, type Key, textOf, withText } from "./key.ts";
import type { Message, Model, Next, Request, TranscriptSearch } from "./model.ts";
import {
  beginSearch,
  isAtEnd,
  openPager,
  type Paged,
  type Pager,
  pagerHeight,
  rewrapped,
  scrolled,
  searchFrom,
  toBegin,
  toEnd,
  toLine,
  withPiece,
} from "./pager.ts";

/** What the monitor is after a message, and what it wants from the outside because of it. */
export function update(model: Model, message: Message): Next {
  switch (message.is) {
    case "seen":
      return just({ ...model, overview: message.overview, state: message.state });
    case "resized":
      return resized({ ...model, size: message.size });
    case "key":
      return pressed(model, message.key);
    case "pasted":
      return just(pasted(model, message.text));
    case "acted":
      return just(
        message.acted.is === "done"
          ? saying(model, message.acted.said, false)
          : saying(model, message.acted.why, true),
      );
    case "opened":
      return opened(model, message.task, message.iteration);
    case "read":
      return read(model, message);
    case "found":
      return found(model, message);
    case "polled":
      return polled(model);
    case "run-ended":
      return runEnded(model, message.exitCode);
    case "failed":
      return just(saying(model, message.why, true));
    default:
      return unreachable(message);
  }
}

const INTERRUPTED = 130;

function pressed(model: Model, key: Key): Next {
  if (key.is === "ctrl" && key.text === "c")
    return { model, requests: [{ want: "quit", exitCode: model.ownRun?.exitCode ?? INTERRUPTED }] };
  // What was said is about what was done before.
  const calm = { ...model, says: null };
  const { mode } = model;
  switch (mode.is) {
    case "look":
      return lookKey(calm, key);
    case "help":
      return just({ ...calm, mode: { is: "look" } });
    case "type":
      return typeKey(calm, mode, key);
    case "confirm":
      return confirmKey(calm, mode, key);
    case "leave":
      return leaveKey(calm, key);
    case "pager":
      return pagerKey(calm, mode.pager, key);
    default:
      return unreachable(mode);
  }
}

function pasted(model: Model, text: string): Model {
  const { mode } = model;
  if (mode.is === "type") return { ...model, mode: { ...mode, field: withText(mode.field, text) } };
  if (mode.is !== "pager" || mode.pager.search === null) return model;
  return withPager(model, { ...mode.pager, search: withText(mode.pager.search, text) });
}

function resized(model: Model): Next {
  return model.mode.is === "pager" ? paged(model, rewrapped(model.mode.pager)) : just(model);
}

function opened(model: Model, task: string, iteration: number | null): Next {
  if (iteration === null) return just(saying(model, `${task} has not been worked on yet`, true));
  const pager = openPager(task, iteration);
  return paged(model, { pager, wants: null });
}

function read(model: Model, { iteration, piece }: Extract<Message, { is: "read" }>): Next {
  const pager = pagerOf(model, iteration);
  if (pager === null || piece === null) return just(model);
  const { columns, rows } = model.size;
  return just(withPager(model, withPiece(pager, piece, columns, pagerHeight(rows))));
}

function found(model: Model, { iteration, at }: Extract<Message, { is: "found" }>): Next {
  const pager = pagerOf(model, iteration);
  if (pager === null) return just(model);
  if (at === null) return just(saying(model, `"${pager.query}" is not in this transcript`, true));
  return paged(model, toLine(pager, at));
}

function polled(model: Model): Next {
  if (model.mode.is !== "pager" || !model.mode.pager.follows) return just(model);
  return { model, requests: [readFor(model.mode.pager, null)] };
}

/** A run that could not even start has nothing to show here: what it printed tells why. */
function runEnded(model: Model, exitCode: number): Next {
  if (model.ownRun === null) return just(model);
  const ended = { ...model, says: null, ownRun: { ...model.ownRun, exitCode } };
  const { run } = model.state;
  if (run === null || run.pid !== model.ownRun.pid)
    return { model: ended, requests: [{ want: "quit", exitCode }] };
  const mode = model.mode.is === "leave" ? ({ is: "look" } as const) : model.mode;
  return just({ ...ended, mode });
}

function paged(model: Model, { pager, wants }: Paged): Next {
  return {
    model: withPager(model, pager),
    requests: wants === undefined ? [] : [readFor(pager, wants)],
  };
}

function pagerOf({ mode }: Model, iteration: number): Pager | null {
  return mode.is === "pager" && mode.pager.iteration === iteration ? mode.pager : null;
}

function withPager(model: Model, pager: Pager): Model {
  return { ...model, mode: { is: "pager", pager } };
}

function saying(model: Model, text: string, isRefusal: boolean): Model {
  return { ...model, says: { text, isRefusal } };
}

function pagerKey(model: Model, pager: Pager, key: Key): Next {
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
function readFor(pager: Pager, from: number | null): Request {
  const { iteration, size } = pager;
  return { want: "read", iteration, from, unlessSize: from === null && isAtEnd(pager) ? size : null };
}

function isText(key: Key, ...texts: readonly string[]): boolean {
  return key.is === "text" && texts.includes(key.text);
}
