import type { TaskId } from "./plan/task.ts";

export type RunId = string;

export interface About<Type extends string> {
  readonly type: Type;
}

export interface AboutIteration<Type extends string> extends About<Type> {
  readonly run: RunId;
  readonly task: TaskId;
  readonly iteration: number;
}
