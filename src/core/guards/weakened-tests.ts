import { isExcusedByTask } from "../weakening/excused-by-task.ts";
import { few } from "../few.ts";
import type { Guard } from "./guard.ts";
import { wordsOf } from "./task-words.ts";

/** Objects when tests check less than when the task began, and the task does not ask for it. */
export const weakenedTests: Guard = {
  name: "weakened-tests",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  advice: "Put them back as they were when the task began, and make the code pass them.",
  check: ({ evidence, task, settings }) => {
    if (settings.protect.weakenedTests === "off") return undefined;
    const words = wordsOf(task);
    const found = evidence.weakened.filter((weakening) => !isExcusedByTask(weakening, words));
    if (found.length === 0) return undefined;
    return `tests were weakened: ${few(found.map(({ path, what }) => `${path}: ${what}`))}`;
  },
  onlyWarns: ({ settings }) => settings.protect.weakenedTests === "warn",
};
