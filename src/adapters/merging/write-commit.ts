import type { OpenRepository } from "../git/open-repository.ts";
import { bytesOf, type Git } from "../git/git.ts";

/** Makes commits in the operator's name, or in ours where git has been told none. */
export interface Committer {
  commit(tree: string, parents: readonly string[], message: string): Promise<string>;
  /** Author, date and message as another commit has them; null when git does not take them. */
  again(commit: string, tree: string, parent: string): Promise<string | null>;
}

export function createCommitter(git: Git, { identity }: Pick<OpenRepository, "identity">): Committer {
  return {
    async commit(tree, parents, message) {
      const args = ["commit-tree", ...parents.flatMap((parent) => ["-p", parent]), tree];
      return (await git.must([...(await identity()), ...args], { input: bytesOf(message) })).trim();
    },
    async again(commit, tree, parent) {
      const [original, committer] = await Promise.all([
        git.must(["cat-file", "commit", commit]),
        git.must([...(await identity()), "var", "GIT_COMMITTER_IDENT"]),
      ]);
      const end = original.indexOf("\n\n");
      const headers = original.slice(0, end).split("\n");
      const headerOf = (name: string): string[] => headers.filter((line) => line.startsWith(`${name} `));
      const lines = [
        `tree ${tree}`,
        `parent ${parent}`,
        ...headerOf("author"),
        `committer ${committer.trim()}`,
        ...headerOf("encoding"),
      ];
      const input = lines.join("\n") + original.slice(end);
      const made = await git.run(["hash-object", "-t", "commit", "-w", "--stdin"], { input });
      return made.code === 0 ? made.stdout.trim() : null;
    },
  };
}
