import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownRoot } from "./adapters/system/own-root.ts";

/** The text of a topic, as it lies in the package: Markdown. */
export function readTopic(name: string): string {
  return readFileSync(join(ownRoot(import.meta.dirname), "docs", "help", `${name}.md`), "utf8");
}
