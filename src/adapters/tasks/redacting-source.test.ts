import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRedactor } from "../../core/redact.ts";
import { createChecklistSource } from "./checklist-source.ts";
import { redactingSource } from "./redacting-source.ts";

test("a secret in the plan is hidden, its id too, and the task can still be marked", async () => {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  writeFileSync(join(root, "TODO.md"), "- [ ] **hunter2hunter2**: log in with hunter2hunter2\n");
  const redact = createRedactor(["hunter2hunter2"]);
  const source = redactingSource(createChecklistSource({ root, path: "TODO.md" }), redact);
  const [task] = (await source.observe()).tasks;
  expect(JSON.stringify(task)).not.toContain("hunter2");
  await source.mark(task?.id ?? "");
  expect(readFileSync(join(root, "TODO.md"), "utf8")).toBe(
    "- [x] **hunter2hunter2**: log in with hunter2hunter2\n",
  );
  rmSync(root, { recursive: true });
});
