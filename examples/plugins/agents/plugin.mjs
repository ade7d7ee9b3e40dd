// An agent with a stream of its own: one word that says what the line is, then the rest.
import { definePlugin } from "ralph";

export default definePlugin({
  apiVersion: 1,
  name: "scribe",
  agents: {
    scribe: {
      command: ["node", "scribe.mjs"],
      tells: "cost",
      createReader() {
        let calls = 0;
        return (line, facts) => {
          const [what, ...rest] = line.split(" ");
          const text = rest.join(" ");
          if (what === "SAY") facts.says(text);
          else if (what === "WROTE") {
            calls += 1;
            facts.startsTool(`write-${calls}`, "write", [text]);
            facts.endsTool(`write-${calls}`, true);
          } else if (what === "PAID") facts.uses({ costUsd: Number(text) });
          else if (what === "END") facts.ends();
          else throw new Error(`a line of this agent does not begin with "${what}"`);
        };
      },
    },
  },
});
