import type { OperatorAct } from "../core/operator/operator-act.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { InboxItem } from "../core/projections/inbox.ts";
import { unreachable } from "../core/unreachable.ts";
import { edited, EMPTY_FIELD, type Key, type TextField, textOf } from "./key.ts";
import { layoutOf } from "./layout.ts";
import { type Dialog, type Mode, type Model, type Next, type Panel, refusalOf } from "./model.ts";
import { type Direction, moved, movedInInbox, selectedItem, selectedTask } from "./selection.ts";

export function lookKey(model: Model, key: Key): Next {
  const isOver = model.ownRun !== null && model.ownRun.exitCode !== null;
  if (isOver && !isForLooking(key)) return quitWith(model, model.ownRun?.exitCode ?? 0);
  if (key.is === "tab" || key.is === "back-tab") return just(nextPanel(model, key.is === "tab" ? 1 : -1));
  const way = wayOf(key);
  if (way !== null) return just(went(model, way.direction, way.by));
  if (key.is === "enter") return entered(model);
  if (key.is === "escape") return just({ ...model, filter: "", logBack: 0 });
  return key.is === "text" ? act(model, key.text) : just(model);
}

const LOOKING = ["j", "k", "h", "l", "f", "?", "g", "G"];

function isForLooking(key: Key): boolean {
  return wayOf(key) !== null || key.is === "tab" || key.is === "back-tab" || LOOKING.includes(textOfKey(key));
}

function textOfKey(key: Key): string {
  return key.is === "text" ? key.text : "";
}

const PAGE = 10;
const ALL = 1_000_000;

function wayOf(key: Key): { readonly direction: Direction; readonly by: number } | null {
  const text = textOfKey(key);
  if (key.is === "up" || text === "k") return { direction: "up", by: 1 };
  if (key.is === "down" || text === "j") return { direction: "down", by: 1 };
  if (key.is === "left" || text === "h") return { direction: "left", by: 1 };
  if (key.is === "right") return { direction: "right", by: 1 };
  if (key.is === "page-up") return { direction: "up", by: PAGE };
  if (key.is === "page-down") return { direction: "down", by: PAGE };
  if (key.is === "home" || text === "g") return { direction: "up", by: ALL };
  return key.is === "end" || text === "G" ? { direction: "down", by: ALL } : null;
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
  const panels: readonly Panel[] = [
    "board",
    ...(inbox > 0 ? (["inbox"] as const) : []),
    ...(log > 0 ? (["log"] as const) : []),
  ];
  const at = panels.indexOf(model.panel);
  return { ...model, panel: panels[(at + by + panels.length) % panels.length] ?? "board" };
}

function entered(model: Model): Next {
  const item = model.panel === "inbox" ? selectedItem(model) : null;
  if (item === null) return act(model, "l");
  return act(model, item.kind === "decide" ? "a" : "u");
}

function act(model: Model, letter: string): Next {
  const task = selectedTask(model);
  switch (letter) {
    case "a":
      return answer(model);
    case "s":
      return steer(model, task);
    case "c":
      return cancel(model, task);
    case "u":
      return unblock(model, task);
    case "r":
      return requested(model, { do: "retry" });
    case "x":
      return confirmed(model, { do: "stop" }, "Stop the run after the iterations under way?");
    case "l":
      return task === null ? noTask(model) : { model, requests: [{ want: "open", task }] };
    case "f":
      return just({ ...model, mode: dialogFor({ asks: "filter", before: model.filter }) });
    case "?":
      return just({ ...model, mode: { is: "help" } });
    case "q":
      return quit(model);
    default:
      return refused(model, `${letter} is no key here; ? lists them`);
  }
}

/** Of the selected task, or else the first that waits. */
export function questionFor(model: Model): InboxItem | null {
  const asked = model.overview.status.inbox.filter(({ kind }) => kind === "decide");
  return asked.find(({ task }) => task === selectedTask(model)) ?? asked[0] ?? null;
}

function answer(model: Model): Next {
  const item = questionFor(model);
  if (item === null) return refused(model, "no task asks a question");
  const why = refusalOf(model, { do: "decide", task: item.task, answer: "…" });
  if (why !== null) return refused(model, why);
  return just({ ...model, mode: dialogFor({ asks: "answer", item }) });
}

/** To the selected task; if it cannot be told, to whoever works next. */
function steer(model: Model, task: TaskId | null): Next {
  const mayTell = (to: TaskId | null): boolean =>
    refusalOf(model, { do: "steer", task: to, text: "…" }) === null;
  const to = task !== null && mayTell(task) ? task : null;
  const why = refusalOf(model, { do: "steer", task: to, text: "…" });
  if (why !== null) return refused(model, why);
  return just({ ...model, mode: dialogFor({ asks: "steer", to, other: null }) });
}

function cancel(model: Model, task: TaskId | null): Next {
  if (task === null) return noTask(model);
  return confirmed(model, { do: "cancel", task }, `Cancel ${task}? Its agent is ended.`);
}

function unblock(model: Model, task: TaskId | null): Next {
  if (task === null) return noTask(model);
  const why = refusalOf(model, { do: "unblock", task, reason: "" });
  return why === null ? just({ ...model, mode: dialogFor({ asks: "unblock", task }) }) : refused(model, why);
}

function confirmed(model: Model, act: OperatorAct, question: string): Next {
  const why = refusalOf(model, act);
  return why === null ? just({ ...model, mode: { is: "confirm", act, question } }) : refused(model, why);
}

function requested(model: Model, act: OperatorAct): Next {
  const why = refusalOf(model, act);
  return why === null ? { model, requests: [{ want: "act", act }] } : refused(model, why);
}

function quit(model: Model): Next {
  const isOn = model.ownRun !== null && model.ownRun.exitCode === null;
  return isOn ? just({ ...model, mode: { is: "leave" } }) : quitWith(model, 0);
}

function quitWith(model: Model, exitCode: number): Next {
  return { model, requests: [{ want: "quit", exitCode }] };
}

function noTask(model: Model): Next {
  return refused(model, "there is no task to select; ralph tasks lists what would be worked on");
}

function refused(model: Model, text: string): Next {
  return just({ ...model, says: { text, isRefusal: true } });
}

export function just(model: Model): Next {
  return { model, requests: [] };
}

export function typeKey(model: Model, mode: Extract<Mode, { is: "type" }>, key: Key): Next {
  const { dialog, field } = mode;
  if (key.is === "escape") return just(givenUp(model, dialog));
  if (key.is === "enter") return submitted(model, dialog, field);
  if (key.is === "tab" && dialog.asks === "steer")
    return just({
      ...model,
      mode: { ...mode, dialog: { ...dialog, to: dialog.other, other: dialog.to } },
    });
  const typed = edited(field, key);
  const filter = dialog.asks === "filter" ? textOf(typed) : model.filter;
  return just({ ...model, filter, mode: { ...mode, field: typed } });
}

function givenUp(model: Model, dialog: Dialog): Model {
  const filter = dialog.asks === "filter" ? "" : model.filter;
  return { ...model, filter, mode: { is: "look" } };
}

function submitted(model: Model, dialog: Dialog, field: TextField): Next {
  const text = textOf(field).trim();
  switch (dialog.asks) {
    case "filter":
      return just({ ...model, filter: text, mode: { is: "look" } });
    case "answer":
      return attempted(model, {
        do: "decide",
        task: dialog.item.task,
        answer: answerFor(dialog.item.options, text),
      });
    case "steer":
      return attempted(model, { do: "steer", task: dialog.to, text });
    case "unblock":
      return attempted(model, { do: "unblock", task: dialog.task, reason: text });
    default:
      return unreachable(dialog);
  }
}

/** An option by its number, or the words themselves. */
export function answerFor(options: readonly string[], typed: string): string {
  return /^\d+$/.test(typed) ? (options[Number(typed) - 1] ?? typed) : typed;
}

/** What is refused leaves the dialog open, with what was typed. */
function attempted(model: Model, act: OperatorAct): Next {
  const why = refusalOf(model, act);
  if (why !== null) return just({ ...model, says: { text: why, isRefusal: true } });
  return { model: { ...model, mode: { is: "look" }, says: null }, requests: [{ want: "act", act }] };
}

export function confirmKey(model: Model, { act }: Extract<Mode, { is: "confirm" }>, key: Key): Next {
  if (key.is === "text" && ["y", "Y"].includes(key.text)) return attempted(model, act);
  const isNo = key.is === "escape" || (key.is === "text" && ["n", "N", "q"].includes(key.text));
  return just(isNo ? { ...model, mode: { is: "look" } } : model);
}

/** Whether the run that came with the monitor is to go on without it. */
export function leaveKey(model: Model, key: Key): Next {
  const looking: Model = { ...model, mode: { is: "look" } };
  if (key.is === "escape") return just(looking);
  if (key.is !== "text") return just(model);
  switch (key.text) {
    case "l":
      return { model: looking, requests: [{ want: "quit", exitCode: 0 }] };
    case "s":
      return attempted(looking, { do: "stop" });
    case "n":
      return {
        model: { ...looking, says: { text: "the run is asked to stop now", isRefusal: false } },
        requests: [{ want: "stop-now" }],
      };
    default:
      return just(model);
  }
}

function dialogFor(dialog: Dialog): Mode {
  return { is: "type", dialog, field: EMPTY_FIELD };
}
