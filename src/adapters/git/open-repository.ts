import { findRepository, type Repository } from "./find-repository.ts";
import { createGit, type Git } from "./git.ts";
import { removeStaleLocks } from "./stale-locks.ts";

/** A repository, and a git in it that is not held up by the locks of the dead. */
export interface OpenRepository extends Repository {
  readonly git: Git;
  /** Settings for commits of ours where the operator has told git no name. */
  readonly identity: () => Promise<readonly string[]>;
}

export async function openRepository(root: string): Promise<OpenRepository> {
  const repository = await findRepository(root);
  const git = createGit(repository.root, {
    unlock: () => removeStaleLocks(repository),
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
  let identity: Promise<readonly string[]> | null = null;
  return { ...repository, git, identity: () => (identity ??= fallbackIdentity(git)) };
}

async function fallbackIdentity(git: Git): Promise<readonly string[]> {
  // Without this, git makes up a name from the machine's, and only sometimes.
  const known = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((name) =>
    git.run(["-c", "user.useConfigOnly=true", "var", name]),
  );
  const isKnown = (await Promise.all(known)).every(({ code }) => code === 0);
  return isKnown ? [] : ["-c", "user.name=Ralph", "-c", "user.email=ralph@localhost"];
}
