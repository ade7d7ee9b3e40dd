// Nothing is done as long as a changed file still prints what only its author wanted to see.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "ralph";

export default definePlugin({
  apiVersion: 1,
  name: "tidy",
  guards: {
    "no-console": {
      advice: "Take it out, or use the logger of the project.",
      check({ root, changedSinceTaskBegan }) {
        return changedSinceTaskBegan.paths
          .filter((path) => /\.[jt]s$/.test(path) && existsSync(join(root, path)))
          .filter((path) => readFileSync(join(root, path), "utf8").includes("console.log("))
          .map((path) => `${path} has a console.log`);
      },
    },
  },
});
