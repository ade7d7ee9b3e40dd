import { definePlugin } from "ralph";

export default definePlugin({
  apiVersion: 1,
  name: "house-rules",
  guards: {
    "no-copies": {
      advice: "Git keeps the old versions.",
      check: ({ changedSinceTaskBegan }) =>
        changedSinceTaskBegan.paths
          .filter((path) => /\.(?:bak|orig)$/.test(path))
          .map((path) => `${path} is a copy`),
    },
  },
});
