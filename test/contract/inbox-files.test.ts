import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInboxFiles } from "../../src/adapters/files/inbox-files.ts";
import { describeInboxFiles } from "./inbox-files.contract.ts";

describeInboxFiles("in files", () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
  return Promise.resolve({
    inboxFiles: createInboxFiles(folder),
    async answer(file, text) {
      appendFileSync(join(folder, file), text);
    },
    async dispose() {
      rmSync(folder, { recursive: true });
    },
  });
});
