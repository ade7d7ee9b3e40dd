import { parseDuration } from "../../core/time.ts";
import type { Task, TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import type { ListPlace } from "./operators-list.ts";
import { type ChecklistItem, scanChecklist, withTicks } from "./scan-checklist.ts";
import { checkedTasks, createFormatSource, NO_DEMANDS } from "./task-format.ts";

/** Tasks in a roadmap: a checklist with ids and properties. Only the byte in the box is ever written. */
export function createRoadmapSource(place: ListPlace, defaults: RoadmapDefaults = {}): TaskSource {
  return createFormatSource(place, {
    kind: "roadmap",
    read: (file, path) => ({ tasks: roadmapTasks(file, path, defaults), demands: NO_DEMANDS }),
    mark: (file, _path, marking) => withTicks(file, marking, (item) => item.writtenId ?? item.task.id),
  });
}

export function roadmapTasks(file: Buffer, path: string, defaults: RoadmapDefaults = {}): readonly Task[] {
  const placed = scanRoadmap(file).map((item) => ({
    task: roadmapTask(item, path, defaults),
    line: item.line,
  }));
  return checkedTasks(placed, path);
}

/** A checklist's task with the properties that stand below it; their values are not looked at yet. */
interface RoadmapItem {
  readonly id: TaskId;
  /** What a checklist would make of it, without the properties among its criteria. */
  readonly task: Task;
  readonly offset: number;
  readonly line: number;
  readonly end: number;
  readonly hasWrittenId: boolean;
  readonly properties: readonly Property[];
}

interface Property {
  readonly key: PropertyKey;
  readonly value: string;
  readonly line: number;
}

export type PropertyKey = (typeof PROPERTY_KEYS)[number];

const PROPERTY_KEYS = [
  "ralph",
  "max_iterations",
  "completion_promise",
  "timeout",
  "success",
  "cli",
  "depends",
  "labels",
  "priority",
  "changes",
] as const;

/** The tasks of a roadmap. Ids are taken as they are written, so that one used twice is seen. */
export function scanRoadmap(file: Buffer): RoadmapItem[] {
  return scanChecklist(file).map(roadmapItem);
}

export function roadmapItem({
  task,
  offset,
  line,
  end,
  section,
  writtenId,
  bullets,
}: ChecklistItem): RoadmapItem {
  const id = writtenId ?? task.id;
  const properties: Property[] = [];
  const criteria: string[] = [];
  for (const bullet of bullets) {
    const property = bullet.isDirect && bullet.box === null ? readProperty(bullet.text, bullet.line) : null;
    if (property !== null) properties.push(property);
    else if (bullet.text !== "") criteria.push(bullet.text);
  }
  const hasWrittenId = writtenId !== null;
  return { id, task: { ...task, id, criteria, phase: section }, offset, line, end, hasWrittenId, properties };
}

/** `key: value` with a key that we know; any other bullet is a sentence with a colon in it. */
function readProperty(text: string, line: number): Property | null {
  const [, name, value] =
    /^[*_`]{0,2}([A-Za-z][A-Za-z_-]*)[*_`]{0,2}:[*_`]{0,2}(?:\s+([^]*))?$/.exec(text) ?? [];
  if (name === undefined) return null;
  const plain = name
    .toLowerCase()
    .replaceAll("-", "_")
    .replace(/^depends_on$/, "depends");
  const key = PROPERTY_KEYS.find((known) => known === plain);
  return key === undefined ? null : { key, value: unquoted(value ?? ""), line };
}

function unquoted(value: string): string {
  const trimmed = value.trim();
  return /^(["'`])(.*)\1$/.exec(trimmed)?.[2]?.trim() ?? trimmed;
}

/** What a looping task gets that does not say itself; null leaves it to the settings of the run. */
export interface RoadmapDefaults {
  /** `--ralph-default-iterations`. */
  readonly defaultIterations?: number | undefined;
  /** `--ralph-default-promise`. */
  readonly defaultPromise?: string | undefined;
}

/** Reads the values of the properties; a wrong one is an error that says where, and what was expected. */
function roadmapTask(item: RoadmapItem, path: string, defaults: RoadmapDefaults): Task {
  let task: Task = { ...item.task, loops: false };
  for (const property of item.properties) task = { ...task, ...propertyFields(property, path) };
  if (!task.loops) return task;
  return {
    ...task,
    maxIterations: task.maxIterations ?? defaults.defaultIterations ?? null,
    promise: task.promise ?? defaults.defaultPromise ?? null,
  };
}

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
    case "changes":
      return {
        changes: wanted(/^none$/i.test(value) ? "none" : null, "none, for a task that changes no files"),
      };
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
