import { few } from "../few.ts";
import type { Guard } from "./guard.ts";

/** Rejects "complete" when nothing of the work could be committed: then it is not in git. */
export const uncommittedWork: Guard = {
  name: "uncommitted-work",
  intervention: "dirty_tree",
  looksAt: "claim",
  check: ({ evidence, settings }) => {
    const { uncommitted, changedSinceTaskBegan } = evidence;
    const isOurs = settings.git.commit === "ralph" && changedSinceTaskBegan.files > 0;
    if (!isOurs || uncommitted.length < changedSinceTaskBegan.files) return undefined;
    const paths = new Set(uncommitted.map(({ path }) => path));
    const isAllThere = changedSinceTaskBegan.paths.every((path) => paths.has(path));
    return isAllThere ? `none of the work could be committed: ${few([...paths])}` : undefined;
  },
  advice:
    "Leave the work in files that can be committed: not too big, no secrets, no repository of their own.",
};
