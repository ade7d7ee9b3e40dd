import { few } from "../few.ts";
import type { Guard } from "./guard.ts";

/** Rejects "complete" when the agent should have committed its work and did not. */
export const dirtyTree: Guard = {
  name: "dirty-tree",
  intervention: "dirty_tree",
  looksAt: "claim",
  check: ({ evidence, settings }) =>
    settings.git.commit === "agent" && evidence.uncommitted.length > 0
      ? `these files are not committed: ${few(
          evidence.uncommitted.map(({ path }) => path),
          10,
        )}`
      : undefined,
};
