import type { TaskId } from "../core/plan.ts";
import { unreachable } from "../core/unreachable.ts";
import { chooseKey, detailKey, lookKey, typeKey } from "./look-keys.ts";
import { edited, EMPTY_FIELD, type Key, nameOf, textOf, withText } from "./key.ts";
import { type Message, type Model, next, type Next, type Request, saying } from "./model.ts";
import { type Pager, pagerHeight, scrolled, searched, withTranscript } from "./pager.ts";

/** What the monitor is after a message, and what it wants from the outside because of it. */
export function update(model: Model, message: Message): Next {
  const { mode } = model;
  switch (message.is) {
    case "seen":
      return next({ ...model, overview: message.overview, state: message.state });
    case "resized":
      return next(rewrapped({ ...model, size: message.size }));
    case "key":
      return pressed(model, message.key);
    case "pasted":
      return next(pasted(model, message.text));
    case "acted": {
      const { acted } = message;
      return next(acted.is === "done" ? saying(model, acted.said, false) : saying(model, acted.why));
    }
    case "opened":
      return opened(model, message.task, message.iteration);
    case "read":
      if (mode.is !== "pager" || mode.pager.iteration !== message.iteration || message.transcript === null)
        return next(model);
      return next(withPager(model, withTranscript(mode.pager, message.transcript, model.size)));
    case "polled":
      return mode.is === "pager" && mode.pager.follows ? next(model, readFor(mode.pager)) : next(model);
    case "run-ended":
      return runEnded(model, message.exitCode);
    case "failed":
      return next(saying(model, message.why));
    default:
      return unreachable(message);
  }
}

const INTERRUPTED = 130;

function pressed(model: Model, key: Key): Next {
  if (nameOf(key) === "ctrl-c")
    return next(model, { want: "quit", exitCode: model.ownRun?.exitCode ?? INTERRUPTED });
  // What was said is about what was done before.
  const calm = { ...model, says: null };
  const { mode } = model;
  switch (mode.is) {
    case "look":
      return lookKey(calm, key);
    case "help":
      return next({ ...calm, mode: { is: "look" } });
    case "detail":
      return detailKey(calm, key);
    case "type":
      return typeKey(calm, mode, key);
    case "choose":
      return chooseKey(calm, mode, key);
    case "pager":
      return next(pagerKey(calm, mode.pager, key));
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

function rewrapped(model: Model): Model {
  const { mode, size } = model;
  if (mode.is !== "pager" || mode.pager.transcript === null) return model;
  return withPager(model, withTranscript(mode.pager, mode.pager.transcript, size));
}

function opened(model: Model, task: TaskId, iteration: number | null): Next {
  if (iteration === null) return next(saying(model, `${task} has not been worked on yet`));
  const pager: Pager = {
    task,
    iteration,
    transcript: null,
    isFull: false,
    rows: [],
    top: 0,
    follows: true,
    search: null,
    query: "",
    hit: null,
  };
  return next(withPager(model, pager), readFor(pager));
}

function readFor({ iteration, transcript }: Pager): Request {
  return { want: "read", iteration, unlessSize: transcript?.size ?? null };
}

/** A run that could not even start has nothing to show here: what it printed tells why. */
function runEnded(model: Model, exitCode: number): Next {
  if (model.ownRun === null) return next(model);
  const ended = { ...model, says: null, ownRun: { ...model.ownRun, exitCode } };
  if (model.state.run?.pid !== model.ownRun.pid) return next(ended, { want: "quit", exitCode });
  return next(model.mode.is === "choose" ? { ...ended, mode: { is: "look" } } : ended);
}

function withPager(model: Model, pager: Pager): Model {
  return { ...model, mode: { is: "pager", pager } };
}

function pagerKey(model: Model, pager: Pager, key: Key): Model {
  const height = pagerHeight(model.size.rows);
  if (pager.search !== null) return searchKey(model, pager, key);
  switch (nameOf(key)) {
    case "escape":
    case "q":
    case "l":
      return { ...model, mode: { is: "look" } };
    case "/":
      return withPager(model, { ...pager, search: EMPTY_FIELD });
    case "e":
      return unfolded(model, pager);
    case "n":
      return found(model, pager, 1);
    case "N":
      return found(model, pager, -1);
    default:
      return withPager(model, scrolled(pager, scrollOf(nameOf(key), height), height));
  }
}

function unfolded(model: Model, pager: Pager): Model {
  const turned = { ...pager, isFull: !pager.isFull, hit: null };
  const { transcript } = pager;
  return withPager(model, transcript === null ? turned : withTranscript(turned, transcript, model.size));
}

function scrollOf(key: string, height: number): number {
  if (key === "up" || key === "k") return -1;
  if (["down", "j", "enter"].includes(key)) return 1;
  if (key === "page-up" || key === "b") return 1 - height;
  if (key === "page-down" || key === " ") return height - 1;
  if (key === "home" || key === "g") return -Infinity;
  return ["end", "G", "f", "F"].includes(key) ? Infinity : 0;
}

function searchKey(model: Model, pager: Pager, key: Key): Model {
  const field = pager.search ?? EMPTY_FIELD;
  if (key.is === "escape") return withPager(model, { ...pager, search: null });
  if (key.is !== "enter") return withPager(model, { ...pager, search: edited(field, key) });
  // Nothing typed: the same again.
  return found(model, { ...pager, search: null, query: textOf(field) || pager.query }, 1);
}

function found(model: Model, pager: Pager, step: 1 | -1): Model {
  if (pager.query === "") return withPager(model, pager);
  const shown = searched(pager, step, pagerHeight(model.size.rows));
  const missed = `"${pager.query}" is not in this transcript`;
  return shown === null ? saying(withPager(model, pager), missed) : withPager(model, shown);
}
