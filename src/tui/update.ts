import { unreachable } from "../core/unreachable.ts";
import type { Key } from "./key.ts";
import { lookKey } from "./look-keys.ts";
import type { Message, Model, Next } from "./model.ts";
import { openPager, pagerHeight, rewrapped, toLine, withPiece, type Paged, type Pager } from "./pager.ts";
import { pagerKey, readFor } from "./pager-keys.ts";
import { confirmKey, leaveKey, typeKey } from "./dialog-keys.ts";
import { withText } from "./text-field.ts";

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

function just(model: Model): Next {
  return { model, requests: [] };
}
