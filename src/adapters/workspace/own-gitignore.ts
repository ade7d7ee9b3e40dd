import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkout } from "./checkout.ts";
import type { StatusEntry } from "./read-status.ts";

const FILE = ".gitignore";

/** Whether an uncommitted `.gitignore` differs from HEAD by nothing but lines that `ralph init` adds. */
export async function isOwnGitignore(checkout: Checkout, entry: StatusEntry): Promise<boolean> {
  if (entry.path !== FILE || entry.missing || entry.is === "conflict") return false;
  const now = readFileSync(join(checkout.root, FILE), "latin1");
  const { code, stdout } = await checkout.git.run(["cat-file", "blob", `HEAD:${FILE}`]);
  const before = code === 0 ? stdout : "";
  return othersLines(now, checkout.ralphPrefix) === othersLines(before, checkout.ralphPrefix);
}

function othersLines(text: string, ralphPrefix: string | null): string {
  const isOurs = (line: string): boolean =>
    line === "" ||
    /^#\s*ralph\b/i.test(line) ||
    (ralphPrefix !== null && line.replace(/^!?\/?/, "").startsWith(ralphPrefix));
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => !isOurs(line))
    .join("\n");
}
