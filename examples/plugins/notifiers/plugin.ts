// Tells a person what only a person can do. A file stands for the way to them.
import { appendFileSync } from "node:fs";
import { definePlugin } from "ralph";

export default definePlugin({
  apiVersion: 1,
  name: "pager",
  notifiers: {
    pager: {
      on: ["blocked", "decide"],
      notify({ text, command }) {
        appendFileSync(".ralph/pager.txt", command === null ? `${text}\n` : `${text} → ${command}\n`);
      },
    },
  },
});
