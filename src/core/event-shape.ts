import type { TaskId } from "./plan/task.ts";

export type RunId = string;

export interface About<Type extends string> {
  readonly type: Type;
  /** Who recorded it, of several workers: with facts that people are told of, so that one of them does. */
  readonly worker?: string;
}

export interface AboutIteration<Type extends string> extends About<Type> {
  readonly run: RunId;
  readonly task: TaskId;
  readonly iteration: number;
}
