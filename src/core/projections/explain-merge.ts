import type { Recorded } from "../events.ts";
import { few } from "../few.ts";
import { redGates } from "../report/checked-gate.ts";
import { asSentence, shortCommit } from "./explain-words.ts";

/** What became of work that was done beside the base; null for everything else. */
export function mergeInWords(event: Recorded): string | null {
  switch (event.type) {
    case "merge.failed": {
      const red = redGates(event.gates).map(({ name }) => `"${name}"`);
      return event.conflicts.length > 0
        ? `It did not merge into ${event.base}: conflicts in ${few(event.conflicts)}.`
        : `Merged into ${event.base} it did not pass: ${few(red)}.`;
    }
    case "merge.held":
      return `Its merge waits: ${asSentence(event.why)}`;
    case "merge.overtaken":
      return "The base was moved by somebody else before it was merged, so it was prepared anew.";
    case "task.merged":
      return event.from === event.to
        ? "The base had it all already."
        : `It was merged: ${shortCommit(event.to)}.`;
    case "task.proposed":
      return `It was proposed: ${event.url}`;
    case "checkout.changed":
      return `Meanwhile somebody changed the operator's own checkout${event.paths.length === 0 ? "" : `: ${few(event.paths)}`}.`;
    default:
      return null;
  }
}
