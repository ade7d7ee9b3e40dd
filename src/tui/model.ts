import type { State } from "../core/state.ts";
import { type Acted, type OperatorAct, planAct } from "../core/loop/operator-act.ts";
import type { TaskId } from "../core/plan.ts";
import type { InboxItem } from "../core/views/inbox.ts";
import type { Overview } from "../core/views/overview.ts";
import type { Key, TextField } from "./key.ts";
import type { Pager, Transcript } from "./pager.ts";

/** All that the monitor knows; a frame is made from it and from nothing else. */
export interface Model {
  readonly size: Size;
  readonly overview: Overview;
  /** What the overview was made from: it tells what a person may do now. */
  readonly state: State;
  readonly panel: Panel;
  /** Under the cursor of the board; null before anybody moved it. */
  readonly task: TaskId | null;
  /** Under the cursor of the inbox. */
  readonly item: TaskId | null;
  /** So many lines of the log are below the last one shown. */
  readonly logBack: number;
  readonly filter: string;
  readonly mode: Mode;
  /** The status line. */
  readonly says: { readonly text: string; readonly isRefusal: boolean } | null;
  /** The run that was started together with the monitor. */
  readonly ownRun: OwnRun | null;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export type Panel = "board" | "inbox" | "log";

export type Mode =
  | { readonly is: "look" | "help" | "detail" }
  | { readonly is: "type"; readonly dialog: Dialog; readonly field: TextField }
  | { readonly is: "choose"; readonly question: string; readonly choices: readonly Choice[] }
  | { readonly is: "pager"; readonly pager: Pager };

/** A letter to press, and what it does; null: nothing happens. */
export interface Choice {
  readonly key: string;
  readonly does: string;
  readonly want: Request | null;
}

export type Dialog =
  | { readonly asks: "answer"; readonly item: InboxItem }
  /** `to` null: whoever works next; `other`: where Tab sends it instead. */
  | { readonly asks: "steer"; readonly to: TaskId | null; readonly other: TaskId | null }
  | { readonly asks: "unblock" | "send-back"; readonly task: TaskId }
  | { readonly asks: "filter" };

export interface OwnRun {
  readonly pid: number;
  /** Null while it runs. */
  readonly exitCode: number | null;
}

export type Message =
  | { readonly is: "seen"; readonly overview: Overview; readonly state: State }
  | { readonly is: "resized"; readonly size: Size }
  | { readonly is: "key"; readonly key: Key }
  | { readonly is: "pasted"; readonly text: string }
  | { readonly is: "acted"; readonly acted: Acted }
  | { readonly is: "opened"; readonly task: TaskId; readonly iteration: number | null }
  | { readonly is: "read"; readonly iteration: number; readonly transcript: Transcript | null }
  /** Time to look whether a transcript has grown. */
  | { readonly is: "polled" }
  | { readonly is: "run-ended"; readonly exitCode: number }
  | { readonly is: "failed"; readonly why: string };

/** What the monitor wants from the outside. */
export type Request =
  | { readonly want: "act"; readonly act: OperatorAct }
  | { readonly want: "open"; readonly task: TaskId }
  /** Nothing is read while the transcript has this size. */
  | { readonly want: "read"; readonly iteration: number; readonly unlessSize: number | null }
  | { readonly want: "stop-now" }
  | { readonly want: "quit"; readonly exitCode: number };

export interface Next {
  readonly model: Model;
  readonly requests: readonly Request[];
}

export function next(model: Model, ...requests: readonly Request[]): Next {
  return { model, requests };
}

export function saying(model: Model, text: string, isRefusal = true): Model {
  return { ...model, says: { text, isRefusal } };
}

export function initialModel(
  size: Size,
  overview: Overview,
  state: State,
  ownRun: OwnRun | null = null,
): Model {
  const start = { panel: "board", task: null, item: null, logBack: 0, filter: "", says: null } as const;
  return { ...start, size, overview, state, ownRun, mode: { is: "look" } };
}

/** Why a person cannot do this now; null: they can. */
export function refusalOf({ overview, state }: Model, act: OperatorAct): string | null {
  if (!overview.mayAct) return "this monitor is there to look only";
  const planned = planAct(state, act, { isDriven: overview.isDriven, id: "" });
  return planned.is === "refused" ? planned.why : null;
}
