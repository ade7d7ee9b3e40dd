import { join } from "node:path";
import { createGitWorkspace } from "../../src/adapters/workspace/git-workspace.ts";
import { temporaryRepository } from "../fixtures/temporary-repository.ts";
import { describeWorkspace } from "./workspace.contract.ts";

describeWorkspace("a git repository", () => {
  const repository = temporaryRepository();
  const { root } = repository;
  let version = 0;
  repository.write("TODO.md", "- [ ] one\n");
  repository.commit();
  return Promise.resolve({
    workspace: createGitWorkspace({ root, ralphDir: join(root, ".ralph") }),
    source: "TODO.md",
    async change(name) {
      version += 1;
      repository.write(name, `version ${version}\n`);
    },
    async undo(name) {
      const isTracked = repository.git("ls-files", name) !== "";
      if (isTracked) repository.git("checkout", "--quiet", "HEAD", "--", name);
      else repository.remove(name);
    },
    async commit() {
      repository.commit();
    },
    async dispose() {
      repository.dispose();
    },
  });
});
