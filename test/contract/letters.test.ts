import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLetters } from "../../src/adapters/files/letters.ts";
import { describeLetters } from "./letters.contract.ts";

describeLetters("in files", () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
  return Promise.resolve({
    letters: createLetters(folder),
    async answer(file, text) {
      appendFileSync(join(folder, file), text);
    },
    async dispose() {
      rmSync(folder, { recursive: true });
    },
  });
});
