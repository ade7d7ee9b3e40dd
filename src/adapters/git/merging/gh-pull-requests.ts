import { RalphError } from "../../../core/errors.ts";
import type { ProposedWork, PullRequest, PullRequests } from "../../../engine/parallel-ports.ts";
import { chooseRemote, openRepository, type OpenRepository } from "../find-repository.ts";
import { type Git, gitError, hardenedForOthers } from "../git.ts";
import { findProgram } from "../../process/process-table.ts";
import { runProgram, type Said } from "../../process/supervise.ts";

interface PullRequestOptions {
  /** The user's checkout. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Pull requests through GitHub's own command line, with the sign-in that it has. */
export function createPullRequests({ root, env }: PullRequestOptions): PullRequests {
  // Nobody is there to be asked for a password.
  const silent = { ...env, GH_PROMPT_DISABLED: "1", GIT_TERMINAL_PROMPT: "0", NO_COLOR: "1" };
  const variables = Object.fromEntries(
    Object.entries(silent).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  let opening: Promise<OpenRepository> | null = null;
  const open = (): Promise<OpenRepository> => (opening ??= openRepository(root));
  const gh = (...args: readonly string[]): Promise<Said> =>
    runProgram("gh", args, { cwd: root, env: hardenedForOthers(silent) });
  return {
    requireUsable: async (base) => {
      if (findProgram("gh", root, env) === null)
        throw new RalphError("config", 'git.merge is "pr", and the program gh is not installed', {
          hint: "install it (https://cli.github.com), or set another git.merge",
        });
      await requireRemote((await open()).git, base);
    },
    propose: async (work) => {
      const { git } = await open();
      const remote = await requireRemote(git, work.base);
      const refspec = `${work.commit}:refs/heads/${work.branch}`;
      const push = ["push", "--quiet", remote, refspec];
      const pushed = await git.run(push, { env: variables, hooks: work.hooks, timeoutMs: PATIENCE_MS });
      if (pushed.code !== 0) return { is: "refused", why: `to ${remote}: ${gitError(push, pushed).message}` };
      const { branch, base, title, body } = work;
      const create = ["pr", "create", "--head", branch, "--base", base, "--title", title, "--body", body];
      return (await openedBefore(gh, work)) ?? opened(await gh(...create), work);
    },
  };
}

const PATIENCE_MS = 120_000;

/** The work may have been proposed before, and its branch be new now: one pull request follows it. */
async function openedBefore(
  gh: (...args: readonly string[]) => Promise<Said>,
  { branch, base }: ProposedWork,
): Promise<PullRequest | null> {
  const about = ["--head", branch, "--base", base, "--state", "open"];
  const { isWell, words } = await gh("pr", "list", ...about, "--json", "url", "--jq", ".[0].url");
  return isWell && words.startsWith("http") ? { is: "proposed", url: words } : null;
}

function opened({ isWell, words }: Said, { branch }: ProposedWork): PullRequest {
  const url = /https?:\/\/\S+/.exec(words)?.[0];
  if (isWell && url !== undefined) return { is: "proposed", url };
  return {
    is: "refused",
    why: `${branch} is pushed, but gh pr create failed: ${words || "it named no address"}`,
  };
}

/** Where branches are pushed for pull requests. */
async function requireRemote(git: Git, base: string): Promise<string> {
  const chosen = await chooseRemote(git, base);
  if ("name" in chosen) return chosen.name;
  throw new RalphError("config", `git.merge is "pr", and ${chosen.why}`, {
    hint: "git remote add origin URL, or set another git.merge",
  });
}
