import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGates } from "../../src/adapters/gates/shell-gates.ts";
import { describeGates } from "./gates.contract.ts";

describeGates("a shell", () => {
  const cwd = mkdtempSync(join(tmpdir(), "ralph-test-"));
  return Promise.resolve({
    gates: createGates({
      cwd,
      baseEnv: { PATH: process.env["PATH"] ?? "" },
      redact: (text) => text,
      ownRoot: "/nonexistent",
    }),
    commands: {
      passes: "true",
      fails: "exit 3",
      isMissing: "no-such-tool --all",
      neverEnds: "sleep 60",
      says42Passed: "echo '42 passed'",
      failsAtFirst: "test -e tried || { touch tried; exit 1; }",
    },
    async dispose() {
      rmSync(cwd, { recursive: true });
    },
  });
});
