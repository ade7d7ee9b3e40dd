import { expect, test } from "vitest";
import { withoutAliases } from "./commands.ts";

test.each([
  ["ralph-status", "status --loops"],
  ["ralph-status --json", "status --loops --json"],
  ["--status", "status"],
  ["--monitor", "run --monitor"],
  ["--reset --all --yes", "reset --all --yes"],
  ["--reset", "reset --all"],
  ["--reset --yes", "reset --all --yes"],
  ["--reset --task one", "reset --task one"],
  ["--calls 50 --monitor", "run --calls 50 --monitor"],
  ["--roadmap plan.md --status", "status"],
  ["--reset-circuit", "reset --circuit"],
  ["--roadmap plan.md --dry-run", "run --roadmap plan.md --dry-run"],
  ["--roadmap=a=b.md", "run --roadmap=a=b.md"],
  ["--dir state --status", "--dir state status"],
  ["--dir=state --verbose --status", "--dir=state --verbose status"],
])("ralph %s is ralph %s", (written, meant) => {
  expect(withoutAliases(written.split(" "))).toEqual(meant.split(" "));
});

test.each(["run --status", "status", "--dir --status", "--version", "run ralph-status", "constructor"])(
  "ralph %s stays as it is",
  (written) => {
    expect(withoutAliases(written.split(" "))).toEqual(written.split(" "));
  },
);

test("words that are no command are a goal for a guided run", () => {
  expect(withoutAliases(["--verbose", "fix the parser", "--check", "npm test"])).toEqual([
    "--verbose",
    "run",
    "--guided",
    "fix the parser",
    "--check",
    "npm test",
  ]);
});

test("nothing stays nothing", () => {
  expect(withoutAliases([])).toEqual([]);
});
