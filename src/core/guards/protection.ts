import { globMatcher } from "../glob.ts";
import type { Task } from "../plan/task.ts";
import type { Settings } from "../settings.ts";
import { isReading } from "../stages/stages.ts";
import { mentionsFile } from "./task-words.ts";

/** What stories are made from. */
const OPERATORS_WORDS = ["prd.md"];

/** What the agent must not change while it works on this task: a task that names a file is about it. */
export function protectionFor(
  settings: Settings,
  task: Task | undefined,
  stage: string,
): (path: string) => boolean {
  if (isReading(stage)) return () => true;
  const words = settings.source.kind === "tasks-json" ? OPERATORS_WORDS : [];
  const matchers = [...settings.protect.paths, ...words].map(globMatcher);
  return (path) => matchers.some((matches) => matches(path)) && !mentionsFile(task, path);
}
