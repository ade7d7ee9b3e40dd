import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownRoot } from "./adapters/system/own-root.ts";

/** Where the pages of the documentation lie. */
export const OWN_ROOT = ownRoot(import.meta.dirname);

/** The text of a topic, as it lies in the package: Markdown. */
export function readTopic(name: string): string {
  return readFileSync(join(OWN_ROOT, "docs", "help", `${name}.md`), "utf8");
}
