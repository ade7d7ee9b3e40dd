import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findRepository, type Repository } from "../git/find-repository.ts";
import { textOf, type Git } from "../git/git.ts";
import { branchesUnderWay, underWay } from "./under-way.ts";

/** A checkout that has a branch, and why it may not be moved there, if so. */
export type BranchCheckout =
  | { readonly is: "open"; readonly repository: Repository }
  | { readonly is: "closed"; readonly root: string; readonly why: string };

/** Everywhere that moving the branch would be felt. */
export async function findCheckouts(
  git: Git,
  repository: Repository,
  ref: string,
): Promise<readonly BranchCheckout[]> {
  const listed = (await git.must(["worktree", "list", "--porcelain", "-z"])).split("\0\0");
  const found: BranchCheckout[] = [];
  for (const [at, record] of listed.entries()) {
    const fields = fieldsOf(record);
    const named = fields.get("worktree");
    // A folder that is gone for good is no checkout; one on a disk that comes back is locked, and is one.
    if (named === undefined || fields.has("bare") || fields.has("prunable")) continue;
    const root = at === 0 ? await mainRoot(git, repository, named) : named;
    const checkout = await look(root, ref, fields.get("branch") === ref);
    if (checkout !== null) found.push(checkout);
  }
  return found;
}

async function look(root: string, ref: string, isNamed: boolean): Promise<BranchCheckout | null> {
  if (!existsSync(root)) return isNamed ? { is: "closed", root, why: "its folder is not there" } : null;
  const repository = await findRepository(root);
  const begun = underWay(repository.gitDir);
  if (!isNamed && !branchesUnderWay(repository.gitDir).includes(ref)) return null;
  return begun === null
    ? { is: "open", repository }
    : { is: "closed", root, why: `${begun} is under way there` };
}

/** Git takes the first one to lie around the git directory, which it need not. */
async function mainRoot(git: Git, { root, gitDir, commonDir }: Repository, named: string): Promise<string> {
  if (gitDir === commonDir) return root;
  const { code, stdout } = await git.run(["config", "--file", `${commonDir}/config`, "core.worktree"]);
  return code === 0 ? resolve(commonDir, textOf(stdout.trimEnd())) : named;
}

function fieldsOf(record: string): ReadonlyMap<string, string> {
  const fields = textOf(record).split("\0");
  return new Map(
    fields.map((field) => {
      const space = field.indexOf(" ");
      return space < 0 ? [field, ""] : [field.slice(0, space), field.slice(space + 1)];
    }),
  );
}
