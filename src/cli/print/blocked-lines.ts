import { whatToDo, type BlockedTask } from "../../core/projections/blocked.ts";
import { columns, shortened } from "./columns.ts";

export const TITLE_LENGTH = 40;
export const WHY_LENGTH = 100;

/** Each blocked task, why, what would help, and below it what to type. */
export function suggestionLines(tasks: readonly BlockedTask[]): readonly string[] {
  const heads = columns(
    tasks.map(({ id, title, why, suggestion }) => [
      id,
      shortened(title, TITLE_LENGTH),
      shortened(why, WHY_LENGTH),
      suggestion,
    ]),
  );
  const indent = " ".repeat(Math.max(0, ...tasks.map(({ id }) => id.length)) + 2);
  return tasks.flatMap((task, at) => [heads[at] ?? "", `${indent}→ ${whatToDo(task)}`]);
}
