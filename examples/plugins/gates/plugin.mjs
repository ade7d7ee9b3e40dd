// A gate that needs no program: every link in the README leads somewhere.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "ralph";

export default definePlugin({
  apiVersion: 1,
  name: "links",
  gates: {
    links: {
      timeoutMs: 10_000,
      check({ root }) {
        const text = readFileSync(join(root, "README.md"), "utf8");
        const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path);
        const broken = links.filter((path) => !existsSync(join(root, path)));
        return {
          passed: broken.length === 0,
          output: broken.map((path) => `README.md links to ${path}, which is not there`).join("\n"),
        };
      },
    },
  },
});
