import type { Task, TaskId } from "../../core/plan/task.ts";
import { scanChecklist, type ChecklistItem } from "./scan-checklist.ts";

/** A checklist's task with the properties that stand below it; their values are not looked at yet. */
export interface RoadmapItem {
  readonly id: TaskId;
  /** What a checklist would make of it, without the properties among its criteria. */
  readonly task: Task;
  readonly offset: number;
  readonly line: number;
  readonly end: number;
  readonly hasWrittenId: boolean;
  readonly properties: readonly Property[];
}

export interface Property {
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
