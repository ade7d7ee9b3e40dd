import type { About, RunId } from "./event-shape.ts";
import type { TaskId } from "./plan/task.ts";

/** Of a run that workers on several machines share. */
export type FleetEvent =
  /** A worker goes on with the task; `from` is the one that vanished while it held it. */
  | (About<"task.taken"> & {
      readonly run: RunId;
      readonly task: TaskId;
      readonly worker: string;
      /** Grows with every hand-over; whoever has a smaller one records nothing about the task. */
      readonly lease: number;
      readonly from: string | null;
    })
  /** It could not go on, through no fault of the agent's. */
  | (About<"task.dropped"> & {
      readonly run: RunId;
      readonly task: TaskId;
      readonly worker: string;
      readonly why: string;
    });
