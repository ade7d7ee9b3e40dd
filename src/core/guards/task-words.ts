import type { Task } from "../plan/task.ts";

/** Everything a task says of itself: what it asks for is not held against the agent. */
export function wordsOf(task: Task | undefined): string {
  if (task === undefined) return "";
  return [task.title, task.description, ...task.criteria, task.success ?? ""].join("\n");
}

/** Whether the task names a file, by its path or by its name alone. */
export function mentionsFile(task: Task | undefined, path: string): boolean {
  const words = wordsOf(task);
  const name = path.slice(path.lastIndexOf("/") + 1);
  return [path, name].some((wanted) => hasWord(words, wanted));
}

function hasWord(words: string, wanted: string): boolean {
  for (let at = words.indexOf(wanted); at >= 0; at = words.indexOf(wanted, at + 1)) {
    const before = words[at - 1] ?? " ";
    const after = words[at + wanted.length] ?? " ";
    if (!/[\w/-]/.test(before) && !/[\w/-]/.test(after)) return true;
  }
  return false;
}
