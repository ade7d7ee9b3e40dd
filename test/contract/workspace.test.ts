import { join } from "node:path";
import { createGitWorkspace } from "../../src/adapters/git/workspace/git-workspace.ts";
import { temporaryRepository } from "../fixtures/temporary-repository.ts";
import { describeWorkspace, type WorkspaceSubject } from "./workspace.contract.ts";

/** How many bytes of an index count as many: with none, every commit is made without a look at the work tree. */
const BIG_INDEXES: Record<string, { bigIndexBytes?: number }> = {
  "a git repository": {},
  "a git repository of very many files": { bigIndexBytes: 0 },
};

for (const [name, options] of Object.entries(BIG_INDEXES)) describeWorkspace(name, () => subject(options));

function subject(options: { bigIndexBytes?: number }): Promise<WorkspaceSubject> {
  const repository = temporaryRepository();
  const { root } = repository;
  let version = 0;
  repository.write("TODO.md", "- [ ] one\n");
  repository.commit();
  return Promise.resolve({
    workspace: createGitWorkspace({ root, ralphDir: join(root, ".ralph"), ...options }),
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
}
