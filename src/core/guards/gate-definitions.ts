import { few } from "../few.ts";
import type { Guard } from "./guard.ts";
import { mentionsFile } from "./task-words.ts";

/** Objects when a gate would no longer run what it ran when the run started. */
export const gateDefinitions: Guard = {
  name: "gate-definitions",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  advice: "Put it back as it was, and make the code pass the check as it is.",
  check: ({ evidence, task }) => {
    const changed = evidence.changedDefinitions.filter(
      ({ where }) => !mentionsFile(task, where.slice(0, where.indexOf(":"))),
    );
    if (changed.length === 0) return undefined;
    const places = changed.map(({ gate, where }) => `${where}, which the gate "${gate}" runs`);
    return `${few(places)}: this is not what it was when the work began`;
  },
};
