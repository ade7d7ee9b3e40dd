import type { OperatorAct } from "../core/loop/operator-act.ts";
import type { TaskId } from "../core/plan.ts";
import type { InboxItem } from "../core/views/inbox.ts";
import { unreachable } from "../core/unreachable.ts";
import { edited, EMPTY_FIELD, type Key, nameOf, type TextField, textOf } from "./key.ts";
import { layoutOf } from "./layout.ts";
import {
  type Choice,
  type Dialog,
  type Mode,
  type Model,
  next,
  type Next,
  type Panel,
  refusalOf,
  saying,
} from "./model.ts";
import { type Direction, moved, movedInInbox, selectedItem, selectedTask } from "./selection.ts";

const PAGE = 10;
const WAYS: Readonly<Record<string, readonly [Direction, number]>> = {
  up: ["up", 1],
  k: ["up", 1],
  down: ["down", 1],
  j: ["down", 1],
  left: ["left", 1],
  h: ["left", 1],
  right: ["right", 1],
  "page-up": ["up", PAGE],
  "page-down": ["down", PAGE],
  home: ["up", Infinity],
  g: ["up", Infinity],
  end: ["down", Infinity],
  G: ["down", Infinity],
};
/** These leave the monitor open when its own run is over. */
const LOOKING = ["tab", "back-tab", "l", "d", "f", "?"];

export function lookKey(model: Model, key: Key): Next {
  const { ownRun } = model;
  const name = nameOf(key);
  const way = WAYS[name];
  if (ownRun?.exitCode != null && way === undefined && !LOOKING.includes(name))
    return next(model, { want: "quit", exitCode: ownRun.exitCode });
  if (way !== undefined) return next(went(model, ...way));
  switch (name) {
    case "tab":
      return next(nextPanel(model, 1));
    case "back-tab":
      return next(nextPanel(model, -1));
    case "enter":
      return entered(model);
    case "escape":
      return next({ ...model, filter: "", logBack: 0 });
    default:
      return key.is === "text" ? act(model, name) : next(model);
  }
}

function went(model: Model, direction: Direction, by: number): Model {
  if (model.panel === "board") return moved(model, direction, by);
  const down = direction === "down" ? by : direction === "up" ? -by : 0;
  if (model.panel === "inbox") return movedInInbox(model, down);
  const most = Math.max(0, model.overview.tail.length - Math.max(1, layoutOf(model).log - 1));
  return { ...model, logBack: Math.min(Math.max(model.logBack - down, 0), most) };
}

function nextPanel(model: Model, by: number): Model {
  const { inbox, log } = layoutOf(model);
  const all: readonly Panel[] = ["board", "inbox", "log"];
  const panels = all.filter((panel) => panel === "board" || (panel === "inbox" ? inbox : log) > 0);
  const at = panels.indexOf(model.panel);
  return { ...model, panel: panels[(at + by + panels.length) % panels.length] ?? "board" };
}

function entered(model: Model): Next {
  const item = model.panel === "inbox" ? selectedItem(model) : null;
  if (item === null) return act(model, "l");
  return act(model, item.kind === "blocked" ? "u" : "a");
}

/** The pane of one task: its keys act on that task, the arrows go to another one, and others go back. */
export function detailKey(model: Model, key: Key): Next {
  const name = nameOf(key);
  const way = WAYS[name];
  if (way !== undefined) return next(went(model, ...way));
  const looking: Model = { ...model, mode: { is: "look" } };
  return DETAIL_KEYS.includes(name) ? act(looking, name) : next(looking);
}

const DETAIL_KEYS = ["a", "b", "u", "s", "c", "l"];

const LEAVING: readonly Choice[] = [
  { key: "l", does: "leave it running", want: { want: "quit", exitCode: 0 } },
  { key: "s", does: "stop after the iteration", want: { want: "act", act: { do: "stop" } } },
  { key: "n", does: "stop now", want: { want: "stop-now" } },
  { key: "Esc", does: "stay", want: null },
];

function act(model: Model, letter: string): Next {
  const task = selectedTask(model);
  switch (letter) {
    case "a":
      return answer(model);
    case "s":
      return steer(model, task);
    case "r":
      return attempted(model, { do: "retry" });
    case "p":
      return attempted(model, { do: model.state.run?.isPaused === true ? "resume" : "pause" });
    case "x":
      return confirmed(model, { do: "stop" }, "Stop the run after the iterations under way?");
    case "f":
      return asked(model, { asks: "filter" });
    case "?":
      return next({ ...model, mode: { is: "help" } });
    case "q":
      return model.ownRun === null
        ? next(model, { want: "quit", exitCode: 0 })
        : next({ ...model, mode: { is: "choose", question: "The run is still on", choices: LEAVING } });
    case "b":
    case "c":
    case "d":
    case "l":
    case "u":
      return task === null
        ? next(saying(model, "there is no task to select; ralph tasks lists what would be worked on"))
        : aboutTask(model, letter, task);
    default:
      return next(saying(model, `${letter} is no key here; ? lists them`));
  }
}

function aboutTask(model: Model, letter: "b" | "c" | "d" | "l" | "u", task: TaskId): Next {
  switch (letter) {
    case "b":
      return asked(model, { asks: "send-back", task }, { do: "send-back", task, words: "…" });
    case "c":
      return confirmed(model, { do: "cancel", task }, `Cancel ${task}? Its agent is ended.`);
    case "d":
      return next({ ...model, mode: { is: "detail" } });
    case "l":
      return next(model, { want: "open", task });
    case "u":
      return asked(model, { asks: "unblock", task }, { do: "unblock", task, reason: "" });
    default:
      return unreachable(letter);
  }
}

/** Of the selected task, or else the first that waits for words of a person: an answer, or an approval. */
export function questionFor(model: Model): InboxItem | null {
  const waiting = model.overview.status.inbox.filter(({ kind }) => kind !== "blocked");
  return waiting.find(({ task }) => task === selectedTask(model)) ?? waiting[0] ?? null;
}

function answer(model: Model): Next {
  const item = questionFor(model);
  if (item === null) return next(saying(model, "no task asks a question"));
  const { task } = item;
  if (item.kind === "review")
    return confirmed(model, { do: "approve", task }, `Approve the work of ${task}? b sends it back.`);
  return asked(model, { asks: "answer", item }, { do: "decide", task, answer: "…" });
}

/** To the selected task; if it cannot be told, to whoever works next. */
function steer(model: Model, task: TaskId | null): Next {
  const telling = (to: TaskId | null): OperatorAct => ({ do: "steer", task: to, text: "…" });
  const to = task !== null && refusalOf(model, telling(task)) === null ? task : null;
  return asked(model, { asks: "steer", to, other: null }, telling(to));
}

/** Opens a dialog, unless what it leads to would be refused now. */
function asked(model: Model, dialog: Dialog, act?: OperatorAct): Next {
  const why = act === undefined ? null : refusalOf(model, act);
  return next(
    why === null ? { ...model, mode: { is: "type", dialog, field: EMPTY_FIELD } } : saying(model, why),
  );
}

function confirmed(model: Model, act: OperatorAct, question: string): Next {
  const why = refusalOf(model, act);
  if (why !== null) return next(saying(model, why));
  const choices: readonly Choice[] = [
    { key: "y", does: "yes", want: { want: "act", act } },
    { key: "n", does: "no", want: null },
  ];
  return next({ ...model, mode: { is: "choose", question, choices } });
}

export function chooseKey(model: Model, { choices }: Extract<Mode, { is: "choose" }>, key: Key): Next {
  const looking: Model = { ...model, mode: { is: "look" } };
  if (key.is === "escape") return next(looking);
  const choice = choices.find((one) => one.key === nameOf(key).toLowerCase());
  if (choice === undefined) return next(model);
  if (choice.want?.want === "act") return attempted(looking, choice.want.act);
  return choice.want === null ? next(looking) : next(looking, choice.want);
}

export function typeKey(model: Model, mode: Extract<Mode, { is: "type" }>, key: Key): Next {
  const { dialog, field } = mode;
  const filters = dialog.asks === "filter";
  if (key.is === "escape")
    return next({ ...model, filter: filters ? "" : model.filter, mode: { is: "look" } });
  if (key.is === "enter") return submitted(model, dialog, field);
  if (key.is === "tab" && dialog.asks === "steer")
    return next({ ...model, mode: { ...mode, dialog: { ...dialog, to: dialog.other, other: dialog.to } } });
  const typed = edited(field, key);
  return next({
    ...model,
    filter: filters ? textOf(typed) : model.filter,
    mode: { ...mode, field: typed },
  });
}

function submitted(model: Model, dialog: Dialog, field: TextField): Next {
  const text = textOf(field).trim();
  switch (dialog.asks) {
    case "filter":
      return next({ ...model, filter: text, mode: { is: "look" } });
    case "answer": {
      const { task, options } = dialog.item;
      return attempted(model, { do: "decide", task, answer: answerFor(options, text) });
    }
    case "steer":
      return attempted(model, { do: "steer", task: dialog.to, text });
    case "unblock":
      return attempted(model, { do: "unblock", task: dialog.task, reason: text });
    case "send-back":
      return attempted(model, { do: "send-back", task: dialog.task, words: text });
    default:
      return unreachable(dialog);
  }
}

/** An option by its number, or the words themselves. */
export function answerFor(options: readonly string[], typed: string): string {
  return /^\d+$/.test(typed) ? (options[Number(typed) - 1] ?? typed) : typed;
}

/** What is refused leaves a dialog open, with what was typed. */
function attempted(model: Model, act: OperatorAct): Next {
  const why = refusalOf(model, act);
  if (why !== null) return next(saying(model, why));
  return next({ ...model, mode: { is: "look" }, says: null }, { want: "act", act });
}
