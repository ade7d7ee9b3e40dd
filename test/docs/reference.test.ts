import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { referencePages } from "../../scripts/reference.ts";

const ROOT = join(import.meta.dirname, "..", "..");

test("the reference says what the program does (if not: npm run reference)", async () => {
  for (const [path, text] of Object.entries(await referencePages())) {
    expect(readFileSync(join(ROOT, path), "utf8")).toBe(text);
  }
});
