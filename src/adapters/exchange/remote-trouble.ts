import { RalphError } from "../../core/ralph-error.ts";
import type { RemoteResult } from "./remote-git.ts";

/** Why a call to a remote failed: what time may heal, or what only a person can. */
export type RemoteFailure =
  { readonly is: "trouble"; readonly why: string } | { readonly is: "error"; readonly error: RalphError };

export function failureOf(result: RemoteResult, remote: string): RemoteFailure {
  const { stderr, isSilent } = result;
  const why = lastWords(result);
  if (isSilent) return { is: "trouble", why: "it did not answer in time" };
  const isError = ERRORS.find(({ said }) => said.test(stderr));
  if (isError !== undefined)
    return { is: "error", error: new RalphError("git-failed", isError.message(remote, why), isError) };
  if (IS_PASSING.test(stderr)) return { is: "trouble", why };
  return { is: "error", error: new RalphError("git-failed", `the remote ${remote}: ${why}`) };
}

interface KnownError {
  readonly said: RegExp;
  readonly message: (remote: string, why: string) => string;
  readonly hint: string;
}

const ERRORS: readonly KnownError[] = [
  {
    said: /Authentication failed|could not read (Username|Password)|terminal prompts disabled|Invalid username or|Permission denied \(|Permission to \S+ denied|returned error: 40[13]|Repository not found|access rights? denied/i,
    message: (remote, why) => `the remote ${remote} does not let us in: ${why}`,
    hint: "sign in so that git asks for nothing, then see that it works: GIT_TERMINAL_PROMPT=0 git ls-remote",
  },
  {
    said: /Host key verification failed/i,
    message: (remote) => `ssh does not know the machine of the remote ${remote}`,
    hint: "connect to it once by hand, and look at its key: git ls-remote",
  },
  {
    said: /does not support --atomic/i,
    message: (remote) => `the remote ${remote} cannot move several branches at once (atomic pushes)`,
    hint: "workers on several machines need that; any git server since 2.4 does it, over ssh or smart http",
  },
];

/** What git says when it is the network, or the server's bad day. Other lines are about what was asked for. */
const IS_PASSING =
  /Could not read from remote repository|unable to access|unable to connect|unable to look up|Could not resolve|Connection|hung up|early EOF|RPC failed|time[d-]? ?out|unexpected disconnect|unreachable|no route|TLS|SSL|returned error: (5\d\d|408|429)|broken pipe|sideband|does not appear to be a git repository|kex_exchange|network|cannot lock ref|Unable to create|internal server error/i;

function lastWords({ code, stderr }: RemoteResult): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !IS_ADVICE.test(line));
  const said = lines.findLast((line) => /^(fatal|error|ssh): /.test(line)) ?? lines.at(-1);
  return said?.replace(/^(fatal|error): /, "").trim() ?? `git ended with exit code ${code}`;
}

const IS_ADVICE = /^(Please make sure|and the repository exists|hint:)|Could not read from remote repository/;
