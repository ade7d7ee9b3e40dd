import { z } from "zod";
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
  const [field, shape, expected] = PROPERTIES[key] ?? [];
  const read = shape?.safeParse(value);
  if (field !== undefined && read?.success === true) return { [field]: read.data };
  const given = value === "" ? "empty" : `"${value}"`;
  throw new RalphError("bad-tasks", `${path}: line ${line}: ${key} is ${given}; expected ${expected}`);
}

const words = z.string();
const ids = words.transform(readIds);

/** Of each property: what it says of the task, how it is read, and what would be right where that can fail. */
const PROPERTIES: Readonly<
  Record<string, readonly [field: keyof Task, shape: z.ZodType, expected?: string]>
> = {
  ralph: [
    "loops",
    z.stringbool({ truthy: ["true", "yes", "on"], falsy: ["false", "no", "off"] }),
    "true or false",
  ],
  max_iterations: [
    "maxIterations",
    words.regex(/^\d+$/).transform(Number).pipe(z.int().min(1)),
    "a whole number of at least 1",
  ],
  completion_promise: [
    "promise",
    // The tag may be written around it, as in the agent's output.
    words.transform((value) => value.replace(/^<promise>([^]*)<\/promise>$/, "$1").trim()).pipe(words.min(1)),
    "the text that the agent prints when it is done",
  ],
  timeout: [
    "timeoutMs",
    words.transform(readTimeout).pipe(z.int().positive()),
    "a number of minutes, or a duration such as 45min, 2h or 90s",
  ],
  success: ["success", words.transform((value) => value || null)],
  cli: ["agent", words.regex(/^\S+$/), "the name of one agent, such as claude"],
  depends: ["dependsOn", ids],
  labels: ["labels", ids],
  priority: ["priority", words.regex(/^-?\d{1,15}(\.\d+)?$/).transform(Number), "a number; lower goes first"],
  changes: ["changes", words.toLowerCase().pipe(z.literal("none")), "none, for a task that changes no files"],
  approve: ["approve", z.enum(["person", "auto"]), "person or auto"],
};

const MINUTE_MS = 60_000;

function readTimeout(value: string): number | null {
  const isBare = /^\d+(\.\d+)?$/.test(value);
  return isBare ? Math.round(Number(value) * MINUTE_MS) : parseDuration(value);
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
