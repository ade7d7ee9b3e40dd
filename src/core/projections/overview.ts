import type { State } from "../loop/state.ts";
import type { Instant } from "../time.ts";
import { boardOf, type Board } from "./board.ts";
import { laneRows, type LaneRow } from "./lane-rows.ts";
import { projectStatus, type Status } from "./status.ts";
import type { WorkerRow } from "./workers.ts";

/** Everything that a screen shows at a glance. */
export interface Overview {
  /** The folder's name. */
  readonly project: string;
  /** Of the log, up to which this is true. */
  readonly position: number;
  readonly now: Instant;
  /** False: the screen is there to look only. */
  readonly mayAct: boolean;
  /** A process drives the run right now. */
  readonly isDriven: boolean;
  readonly status: Status;
  readonly board: Board;
  readonly lanes: readonly LaneRow[];
  readonly progress: readonly LiveProgress[];
  /** Everybody who works for the queue, or did lately, the longest here first; null where one machine works alone. */
  readonly workers: readonly WorkerRow[] | null;
  /** The last things that happened, in words, oldest first. */
  readonly tail: readonly LogLine[];
  /** The next command to type, when there is nothing to show or to do here. */
  readonly hint: string | null;
}

/** What an agent is doing right now. */
export interface LiveProgress {
  readonly iteration: number;
  readonly task: string;
  readonly elapsedSeconds: number;
  readonly timeoutSeconds: number;
  readonly currentFile: string | null;
  readonly lastTool: string | null;
  readonly toolCalls: number;
  readonly filesTouched: number;
  readonly costUsd: number | null;
}

export interface LogLine {
  readonly position: number;
  readonly at: Instant;
  readonly text: string;
}

/** What is known beside the state. */
export type Around = Pick<
  Overview,
  "project" | "now" | "mayAct" | "isDriven" | "progress" | "workers" | "tail"
> & {
  /** Calls of this hour. */
  readonly calls: number;
};

export function overviewOf(state: State, { calls, ...around }: Around): Overview {
  return {
    ...around,
    position: state.position,
    status: projectStatus(state, around.isDriven, { calls, now: around.now }),
    board: boardOf(state),
    lanes: laneRows(state),
    hint: hintOf(state, around),
  };
}

function hintOf({ run }: State, { isDriven, workers }: Pick<Around, "isDriven" | "workers">): string | null {
  if (workers !== null) return run === null ? "ralph submit" : isDriven ? null : "ralph worker";
  if (run === null) return "ralph run";
  return isDriven || run.end?.outcome === "completed" ? null : "ralph run";
}
