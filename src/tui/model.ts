import type { State } from "../core/loop/state.ts";
import { type OperatorAct, planAct } from "../core/operator/operator-act.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { InboxItem } from "../core/projections/inbox.ts";
import type { Overview } from "../core/projections/overview.ts";
import type { Acted } from "../engine/operator.ts";
import type { Key, TextField } from "./key.ts";
import type { Pager, Piece } from "./pager.ts";

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
  | { readonly is: "look" }
  | { readonly is: "type"; readonly dialog: Dialog; readonly field: TextField }
  | { readonly is: "confirm"; readonly act: OperatorAct; readonly question: string }
  | { readonly is: "help" }
  | { readonly is: "pager"; readonly pager: Pager }
  /** Whether the run is to go on without the monitor. */
  | { readonly is: "leave" };

export type Dialog =
  | { readonly asks: "answer"; readonly item: InboxItem }
  /** `to` null: whoever works next; `other`: where Tab sends it instead. */
  | { readonly asks: "steer"; readonly to: TaskId | null; readonly other: TaskId | null }
  | { readonly asks: "unblock"; readonly task: TaskId }
  /** `before` comes back when it is given up. */
  | { readonly asks: "filter"; readonly before: string };

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
  | { readonly is: "read"; readonly iteration: number; readonly piece: Piece | null }
  | { readonly is: "found"; readonly iteration: number; readonly at: number | null }
  /** Time to look whether a transcript has grown. */
  | { readonly is: "polled" }
  | { readonly is: "run-ended"; readonly exitCode: number }
  | { readonly is: "failed"; readonly why: string };

/** What the monitor wants from the outside. */
export type Request =
  | { readonly want: "act"; readonly act: OperatorAct }
  | { readonly want: "open"; readonly task: TaskId }
  /** `from` null: the end. Nothing is read while the transcript has this size. */
  | {
      readonly want: "read";
      readonly iteration: number;
      readonly from: number | null;
      readonly unlessSize: number | null;
    }
  | { readonly want: "find"; readonly iteration: number; readonly search: TranscriptSearch }
  | { readonly want: "stop-now" }
  | { readonly want: "quit"; readonly exitCode: number };

export interface TranscriptSearch {
  readonly text: string;
  /** The byte to begin behind, or to end before. */
  readonly from: number;
  readonly direction: "forward" | "back";
}

export interface Next {
  readonly model: Model;
  readonly requests: readonly Request[];
}

export function initialModel(
  size: Size,
  overview: Overview,
  state: State,
  ownRun: OwnRun | null = null,
): Model {
  return {
    size,
    overview,
    state,
    panel: "board",
    task: null,
    item: null,
    logBack: 0,
    filter: "",
    mode: { is: "look" },
    says: null,
    ownRun,
  };
}

/** Why a person cannot do this now; null: they can. */
export function refusalOf({ overview, state }: Model, act: OperatorAct): string | null {
  if (!overview.mayAct) return "this monitor is there to look only";
  const planned = planAct(state, act, overview.isDriven, "");
  return planned.is === "refused" ? planned.why : null;
}
