import { parseDuration } from "../../core/time.ts";
import type { Task, TaskId } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import { addBox, tickBoxes } from "./checklist-format.ts";
import { type ChecklistItem, scanChecklist } from "./scan-checklist.ts";
import { checkedTasks, nextId, NO_DEMANDS, type TaskFormat } from "./task-format.ts";

/** Tasks in a roadmap: a checklist with ids and properties. Only the byte in the box is ever written. */
export function roadmapFormat(defaults: RoadmapDefaults = {}): TaskFormat {
  return {
    kind: "roadmap",
    read: (file, path) => {
      const placed = scanRoadmap(file).map((item) => ({
        task: roadmapTask(item, path, defaults),
        line: item.line,
      }));
      return { tasks: checkedTasks(placed, path), demands: NO_DEMANDS };
    },
    mark: (file, _path, task, isDone) =>
      tickBoxes(file, isDone, (item) => (item.writtenId ?? item.task.id) === task),
    add: (file, _path, title) => {
      const ids = scanChecklist(file).flatMap(({ writtenId }) => writtenId ?? []);
      return addBox(file, `**${nextId(ids, "task-")}**: ${title}`);
    },
  };
}

/** A checklist's task with the properties that stand below it; their values are not looked at yet. */
interface RoadmapItem {
  readonly id: TaskId;
  /** What a checklist would make of it, without the properties among its criteria. */
  readonly task: Task;
  readonly line: number;
  readonly hasWrittenId: boolean;
  readonly properties: readonly Property[];
}

interface Property {
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/** The tasks of a roadmap. Ids are taken as they are written, so that one used twice is seen. */
export function scanRoadmap(file: Buffer): RoadmapItem[] {
  return scanChecklist(file).map(roadmapItem);
}

function roadmapItem({ task, line, section, writtenId, bullets }: ChecklistItem): RoadmapItem {
  const id = writtenId ?? task.id;
  const properties: Property[] = [];
  const criteria: string[] = [];
  for (const bullet of bullets) {
    const property = bullet.isDirect && !bullet.hasBox ? readProperty(bullet.text, bullet.line) : null;
    if (property !== null) properties.push(property);
    else if (bullet.text !== "") criteria.push(bullet.text);
  }
  return {
    id,
    task: { ...task, id, criteria, phase: section },
    line,
    hasWrittenId: writtenId !== null,
    properties,
  };
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
  return Object.hasOwn(PROPERTIES, plain) ? { key: plain, value: unquoted(value ?? ""), line } : null;
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
  for (const property of item.properties) task = { ...task, ...readFields(property, path) };
  if (!task.loops) return task;
  return {
    ...task,
    maxIterations: task.maxIterations ?? defaults.defaultIterations ?? null,
    promise: task.promise ?? defaults.defaultPromise ?? null,
  };
}

function readFields({ key, value, line }: Property, path: string): Partial<Task> {
  const property = PROPERTIES[key];
  const fields = property?.read(value) ?? null;
  if (fields !== null) return fields;
  const given = value === "" ? "empty" : `"${value}"`;
  throw new RalphError(
    "bad-tasks",
    `${path}: line ${line}: ${key} is ${given}; expected ${property?.expected ?? "nothing"}`,
  );
}

/** Of each property: what its value says of the task, null where it cannot be one; and what would be right. */
const PROPERTIES: Readonly<
  Record<string, { readonly expected?: string; readonly read: (value: string) => Partial<Task> | null }>
> = {
  ralph: { expected: "true or false", read: (value) => set("loops", readYesOrNo(value)) },
  max_iterations: {
    expected: "a whole number of at least 1",
    read: (value) => set("maxIterations", readCount(value)),
  },
  completion_promise: {
    expected: "the text that the agent prints when it is done",
    read: (value) => set("promise", readPromise(value)),
  },
  timeout: {
    expected: "a number of minutes, or a duration such as 45min, 2h or 90s",
    read: (value) => set("timeoutMs", readTimeout(value)),
  },
  success: { read: (value) => ({ success: value === "" ? null : value }) },
  cli: {
    expected: "the name of one agent, such as claude",
    read: (value) => set("agent", /^\S+$/.test(value) ? value : null),
  },
  depends: { read: (value) => ({ dependsOn: readIds(value) }) },
  labels: { read: (value) => ({ labels: readIds(value) }) },
  priority: { expected: "a number; lower goes first", read: (value) => set("priority", readNumber(value)) },
  changes: {
    expected: "none, for a task that changes no files",
    read: (value) => (/^none$/i.test(value) ? { changes: "none" } : null),
  },
  approve: {
    expected: "person or auto",
    read: (value) => (value === "person" || value === "auto" ? { approve: value } : null),
  },
};

function set<Key extends keyof Task>(key: Key, value: Task[Key] | null): Partial<Task> | null {
  return value === null ? null : { [key]: value };
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
