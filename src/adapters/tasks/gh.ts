import { RalphError } from "../../core/errors.ts";
import { hardenedForOthers } from "../git/git.ts";
import { findProgram } from "../process/process-table.ts";
import { runProgram, type Said } from "../process/supervise.ts";

export interface GhOptions {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** How long to wait before each further try of what must not be left undone. */
  readonly pausesMs?: readonly number[];
}

export type Ask = (...args: readonly string[]) => Promise<string>;

/** GitHub's own command line, with the sign-in that it has; it never asks anybody anything. */
export interface Gh {
  /** What it prints; every way to fail is an error that says what to do. */
  readonly ask: Ask;
  /** The same, tried again when GitHub does not answer. */
  readonly insist: Ask;
}

const PAUSES_MS = [1_000, 5_000, 15_000, 60_000];

export function createGh({ root, env, pausesMs = PAUSES_MS }: GhOptions): Gh {
  const variables = { ...env, GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", NO_COLOR: "1" };
  const silent = hardenedForOthers(variables);
  const ask: Ask = async (...args) => {
    if (findProgram("gh", root, env) === null)
      throw new RalphError("config", "the tasks are GitHub issues, and the program gh is not installed", {
        hint: "install it (https://cli.github.com), or name another source with --source",
      });
    const said = await runProgram("gh", args, { cwd: root, env: silent });
    if (said.isWell) return said.words;
    throw failure(said, args);
  };
  const insist: Ask = async (...args) => {
    for (const pauseMs of pausesMs) {
      try {
        return await ask(...args);
      } catch (error) {
        if (!(error instanceof Outage)) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    return ask(...args);
  };
  return { ask, insist };
}

export function isNotFound(error: unknown): boolean {
  return error instanceof RalphError && error.code === "no-tasks";
}

/** GitHub does not answer, or not now: what comes later may. */
class Outage extends RalphError {}

const AUTH_REQUIRED = 4;
const WRITES = ["close", "comment", "edit", "reopen"];

function failure({ code, words }: Said, args: readonly string[]): RalphError {
  const command = `gh ${args.slice(0, 2).join(" ")}`;
  const isWrite = args[0] === "issue" && WRITES.includes(args[1] ?? "");
  const outage = new Outage("unreachable", `${command} failed: ${words}`, {
    hint: "when GitHub answers again: ralph run",
  });
  if (/rate limit|abuse detection/i.test(words)) return outage;
  if (code === AUTH_REQUIRED || /gh auth login|authentication|HTTP 401/i.test(words))
    return new RalphError("unreachable", `gh is not signed in to GitHub: ${words}`, {
      hint: "sign in: gh auth login; then: ralph run",
    });
  // Of what it does not show, GitHub says that it is not found.
  if (REFUSAL.test(words) || (isWrite && /HTTP 404/.test(words))) {
    const [does, right, forToken] = isWrite
      ? ["change", "write", "read and write"]
      : ["read", "read", "read"];
    const what = `GitHub refuses ${command}: ${words}; the account or token of gh may not ${does} issues here`;
    return new RalphError("unreachable", what, {
      hint: `give it the right to ${right} issues (a token: "Issues: ${forToken}"; a workflow: permissions: issues: ${right}), or sign in with another: gh auth login; then: ralph run`,
    });
  }
  if (/no git remotes|none of the git remotes|not a git repository/i.test(words))
    return new RalphError("config", `gh finds no GitHub repository here: ${words}`, {
      hint: 'name it in .ralph/ralph.toml: [github] repo = "owner/name"',
    });
  if (/could not resolve to a repository/i.test(words))
    return new RalphError("config", `GitHub does not know the repository, or does not show it: ${words}`, {
      hint: "look at [github] repo in .ralph/ralph.toml, and at who is signed in: gh auth status",
    });
  if (/could not resolve to an issue|not found|has been deleted|HTTP 404/i.test(words))
    return new RalphError("no-tasks", `GitHub has no such issue: ${words}`);
  return outage;
}

const REFUSAL = /HTTP 403|resource not accessible|correct permissions|required scopes|SAML enforcement/i;

export interface GithubPlace {
  /** `owner/name`; null: the repository that gh finds here. */
  readonly repo: string | null;
  readonly label: string;
  readonly whenDone: "close" | "comment";
}

/** Reads `github`, `github:LABEL` and `github:OWNER/NAME:LABEL`; null when the words name something else. */
export function githubPlace(words: string, usual: GithubPlace): GithubPlace | null {
  const [whole, repo, label] = /^github(?::(?:([\w.-]+\/[\w.-]+):)?(.*))?$/s.exec(words) ?? [];
  if (whole === undefined) return null;
  return checked({ ...usual, repo: repo ?? usual.repo, label: (label ?? usual.label).trim() });
}

/** The words by which the same place is found again. */
export function githubLabel({ repo, label }: GithubPlace): string {
  return repo === null ? `github:${label}` : `github:${repo}:${label}`;
}

function checked(place: GithubPlace): GithubPlace {
  const { label, repo } = place;
  if (label === "" || /[,"\p{Cc}]/u.test(label))
    throw new RalphError("usage", `the label ${JSON.stringify(label)} cannot be asked for with gh`, {
      hint: "name a label without commas and quotes: --source github:ralph",
    });
  if (repo !== null && !/^[\w.-]+\/[\w.-]+$/.test(repo))
    throw new RalphError("usage", `the repository "${repo}" is not written as owner/name`, {
      hint: 'correct it in .ralph/ralph.toml: [github] repo = "owner/name"',
    });
  return place;
}
