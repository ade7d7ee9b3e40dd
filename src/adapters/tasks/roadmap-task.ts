import { parseDuration } from "../../core/duration.ts";
import type { Task } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Property, RoadmapItem } from "./scan-roadmap.ts";

/** What a looping task gets that does not say itself; null leaves it to the settings of the run. */
export interface RoadmapDefaults {
  /** `--ralph-default-iterations`. */
  readonly defaultIterations?: number | undefined;
  /** `--ralph-default-promise`. */
  readonly defaultPromise?: string | undefined;
}

/** Reads the values of the properties; a wrong one is an error that says where, and what was expected. */
export function roadmapTask(item: RoadmapItem, path: string, defaults: RoadmapDefaults): Task {
  let task: Task = { ...item.task, loops: false };
  for (const property of item.properties) task = { ...task, ...propertyFields(property, path) };
  if (!task.loops) return task;
  return {
    ...task,
    maxIterations: task.maxIterations ?? defaults.defaultIterations ?? null,
    promise: task.promise ?? defaults.defaultPromise ?? null,
  };
}

/** What one property says about its task. */
export function propertyFields(property: Property, path: string): Partial<Task> {
  const { key, value } = property;
  const wanted = <Value>(read: Value | null, expected: string): Value => {
    if (read !== null) return read;
    throw new RalphError(
      "bad-tasks",
      `${path}: line ${property.line}: ${key} is ${value === "" ? "empty" : `"${value}"`}; expected ${expected}`,
    );
  };
  switch (key) {
    case "ralph":
      return { loops: wanted(readYesOrNo(value), "true or false") };
    case "max_iterations":
      return { maxIterations: wanted(readCount(value), "a whole number of at least 1") };
    case "completion_promise":
      return { promise: wanted(readPromise(value), "the text that the agent prints when it is done") };
    case "timeout":
      return {
        timeoutMs: wanted(readTimeout(value), "a number of minutes, or a duration such as 45min, 2h or 90s"),
      };
    case "success":
      return { success: value === "" ? null : value };
    case "cli":
      return { agent: wanted(/^\S+$/.test(value) ? value : null, "the name of one agent, such as claude") };
    case "depends":
      return { dependsOn: readIds(value) };
    case "labels":
      return { labels: readIds(value) };
    case "priority":
      return { priority: wanted(readNumber(value), "a number; lower goes first") };
  }
}

function readYesOrNo(value: string): boolean | null {
  if (/^(true|yes|on)$/i.test(value)) return true;
  return /^(false|no|off)$/i.test(value) ? false : null;
}

function readCount(value: string): number | null {
  const count = /^\d+$/.test(value) ? Number(value) : 0;
  return count >= 1 && Number.isSafeInteger(count) ? count : null;
}

/** The tag may be written around it, as in the agent's output. */
function readPromise(value: string): string | null {
  const text = (/^<promise>([^]*)<\/promise>$/.exec(value)?.[1] ?? value).trim();
  return text === "" ? null : text;
}

const MINUTE_MS = 60_000;

function readTimeout(value: string): number | null {
  const isBare = /^\d+(\.\d+)?$/.test(value);
  const ms = isBare ? Math.round(Number(value) * MINUTE_MS) : parseDuration(value);
  return ms !== null && ms > 0 && Number.isSafeInteger(ms) ? ms : null;
}

function readNumber(value: string): number | null {
  return /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : null;
}

function readIds(value: string): readonly string[] {
  if (/^(none|nothing|-)?$/i.test(value)) return [];
  const ids = value
    .replace(/^\[(.*)\]$/, "$1")
    .split(",")
    .map((id) => id.trim().replace(/^(\*\*|["'`])(.*)\1$/, "$2"))
    .filter((id) => id !== "");
  return [...new Set(ids)];
}
