import type { Task } from "../../core/plan/task.ts";

type Said = Pick<Task, "id" | "title"> & Partial<Task>;

const isText = (value: unknown): boolean => typeof value === "string";
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;
const isBoolean = (value: unknown): boolean => typeof value === "boolean";

const FIELDS: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  id: [isText, "a text"],
  title: [isText, "a text"],
  description: [isText, "a text"],
  criteria: [isTextList, "a list of texts"],
  success: [isText, "a text"],
  dependsOn: [isTextList, "a list of texts"],
  priority: [isNumber, "a number"],
  agent: [isText, "a text"],
  timeoutMs: [isCount, "milliseconds"],
  maxIterations: [isCount, "a whole number of at least 1"],
  promise: [isText, "a text"],
  loops: [isBoolean, "true or false"],
  done: [isBoolean, "true or false"],
  optional: [isBoolean, "true or false"],
};

/** A task as a plugin gives it, or what is wrong with it. */
export function readTask(value: unknown): Said | string {
  if (typeof value !== "object" || value === null) return "no task; expected at least { id, title }";
  const given = Object.entries(value).filter(([, inside]) => inside !== undefined && inside !== null);
  for (const [field, inside] of given) {
    const known = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (known === undefined) return `a field "${field}" that no task has`;
    const [isMet, words] = known;
    if (!isMet(inside)) return `a "${field}" that is no such thing; expected ${words}`;
  }
  const task = Object.fromEntries(given) as Partial<Said>;
  if (task.id === undefined || task.id.trim() === "") return "no id";
  if (/[\r\n]/.test(task.id)) return "an id of several lines";
  if (task.title === undefined || task.title.trim() === "") return "no title";
  return task as Said;
}
