import { few } from "../few.ts";
import type { Task } from "../plan/task.ts";
import type { Guard } from "./guard.ts";
import { mentionsFile, wordsOf } from "./task-words.ts";

/** Objects when a gate would no longer run what it ran when the run started. */
export const gateDefinitions: Guard = {
  name: "gate-definitions",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  advice: "Put it back as it was, and make the code pass the check as it is.",
  check: ({ evidence, task }) => {
    const changed = evidence.changedDefinitions.filter(({ where }) => !isAskedFor(task, where));
    if (changed.length === 0) return undefined;
    const places = changed.map(({ gate, where }) => `${where}, which the gate "${gate}" runs`);
    return `${few(places)}: this is not what it was when the work began`;
  },
};

/** A task that names the file is not about its scripts unless it says so: "bump the version in package.json". */
function isAskedFor(task: Task | undefined, where: string): boolean {
  return mentionsFile(task, where.slice(0, where.indexOf(":"))) && SCRIPTS.test(wordsOf(task));
}

const SCRIPTS = /\b(?:scripts?|commands?|targets?|recipes?|rules?|runners?)\b/i;
