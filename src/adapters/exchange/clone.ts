import { RalphError } from "../../core/ralph-error.ts";
import { chooseRemote } from "../git/choose-remote.ts";
import { gitError } from "../git/git.ts";
import { openRepository, type OpenRepository } from "../git/open-repository.ts";
import { createRemoteGit, type RemoteGit } from "./remote-git.ts";

/** The repository that a worker works in, and its way to the others. */
export interface Clone extends OpenRepository {
  /** As people call it. */
  readonly remote: string;
  /** As git is told: its name, or where pushes go, if that is elsewhere. */
  readonly target: string;
  readonly over: RemoteGit;
}

export interface CloneOptions {
  /** The clone's checkout. */
  readonly root: string;
  /** The name of the remote; chosen as for pull requests otherwise. */
  readonly remote?: string;
  /** The branch that work is brought to, whose remote it is. */
  readonly base?: string;
  readonly env: NodeJS.ProcessEnv;
  /** How long git may say nothing before it is ended. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 120_000;

/** The answer, or what is wrong with the remote for now. */
export type Attempted<Result> =
  | { readonly result: Result; readonly trouble?: undefined }
  | { readonly result?: undefined; readonly trouble: string };

export async function openClone(options: CloneOptions): Promise<Clone> {
  const repository = await openRepository(options.root);
  const { git } = repository;
  const chosen =
    options.remote === undefined ? await chooseRemote(git, options.base ?? null) : { name: options.remote };
  if ("why" in chosen)
    throw new RalphError("config", `workers exchange their work through a remote, and ${chosen.why}`, {
      hint: "git remote add origin URL",
    });
  const remote = chosen.name;
  const asked = ["remote", "get-url", remote];
  const url = await git.run(asked);
  if (url.code !== 0) throw gitError(asked, url);
  const pushUrl = (await git.must(["remote", "get-url", "--push", remote])).trim();
  if ((await git.must(["rev-parse", "--is-shallow-repository"])).trim() === "true")
    throw new RalphError(
      "config",
      `${repository.root} is a shallow clone: it lacks the history to merge with`,
      {
        hint: "git fetch --unshallow",
      },
    );
  const over = await createRemoteGit(repository, {
    env: options.env,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
  });
  return { ...repository, remote, target: pushUrl === url.stdout.trim() ? remote : pushUrl, over };
}
