import type { TaskId } from "../../core/plan/task.ts";

/** The next free number in the manner of the ids that are there: `US-004`, `task-012`. */
export function nextId(ids: readonly TaskId[], usual: string): TaskId {
  const numbered = ids.flatMap((id) => {
    const [, prefix, digits] = /^(.*?)(\d{1,9})$/.exec(id) ?? [];
    return prefix === undefined || digits === undefined ? [] : [{ prefix, digits }];
  });
  const prefixes = new Set(numbered.map(({ prefix }) => prefix));
  const [only] = prefixes.size === 1 ? prefixes : [];
  const prefix = only ?? usual;
  const digits = numbered.filter((one) => one.prefix === prefix).map((one) => one.digits);
  const width = digits.length === 0 ? 3 : Math.max(...digits.map((text) => text.length));
  const number = Math.max(0, ...digits.map(Number)) + 1;
  return `${prefix}${String(number).padStart(width, "0")}`;
}
