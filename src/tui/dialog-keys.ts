import type { OperatorAct } from "../core/operator/operator-act.ts";
import { unreachable } from "../core/unreachable.ts";
import type { Key } from "./key.ts";
import { refusalOf } from "./may-act.ts";
import type { Dialog, Mode, Model, Next } from "./model.ts";
import { EMPTY_FIELD, edited, textOf, type TextField } from "./text-field.ts";

/** Keys while something is typed. */
export function typeKey(model: Model, mode: Extract<Mode, { is: "type" }>, key: Key): Next {
  const { dialog, field } = mode;
  if (key.is === "escape") return just(givenUp(model, dialog));
  if (key.is === "enter") return entered(model, dialog, field);
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

function entered(model: Model, dialog: Dialog, field: TextField): Next {
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

export function dialogFor(dialog: Dialog): Mode {
  return { is: "type", dialog, field: EMPTY_FIELD };
}

function just(model: Model): Next {
  return { model, requests: [] };
}
