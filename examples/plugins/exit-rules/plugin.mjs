// An open-ended task is over when the list is long enough, and given up when it does not grow.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "ralph";

const ENOUGH = 3;

export default definePlugin({
  apiVersion: 1,
  name: "ideas",
  exitRules: {
    enough: {
      check({ root, changed }) {
        const ideas = readFileSync(join(root, "IDEAS.md"), "utf8").match(/^- /gm) ?? [];
        if (ideas.length >= ENOUGH) return { ends: "complete", because: `there are ${ideas.length} ideas` };
        if (changed.files === 0) return { ends: "failed", because: "no further idea came" };
        return null;
      },
    },
  },
});
