import type { Plan, SourceIdentity, TaskId } from "../../../core/plan/task.ts";
import { RalphError } from "../../../core/ralph-error.ts";
import type { AcceptedWork, TaskSource } from "../../../engine/ports.ts";
import { NO_DEMANDS } from "../no-demands.ts";
import { createGh, type Ask, type Gh, type GhOptions } from "./gh.ts";
import { githubLabel, type GithubPlace } from "./github-place.ts";
import { issueId, issueNumber, type Issue } from "./issue-task.ts";
import { OwnActs, type Act } from "./own-acts.ts";
import { inRepo, issueTasks, readIssues, requireNoneMissing, viewIssue, type Issues } from "./read-issues.ts";

export interface GithubOptions extends GhOptions {
  readonly now?: () => number;
}

/** Several looks in a row are one. */
const FRESH_MS = 5_000;

/** Tasks that are GitHub issues with a label, through `gh`. Their mark is that they are closed. */
export function createGithubSource(place: GithubPlace, options: GithubOptions): TaskSource {
  const { now = () => performance.now() } = options;
  const gh = createGh(options);
  const identity: SourceIdentity = { kind: "github", label: githubLabel(place), path: null };
  const settled = new Set<number>();
  const acts = new OwnActs();
  let seen: { readonly at: number; readonly open: readonly Issue[]; readonly plan: Plan } | null = null;
  const read = async (ask: Ask): Promise<Issues> => acts.appliedTo(await readIssues(ask, place));
  const act = (issue: Issue | undefined, is: Act): void => {
    if (issue !== undefined) acts.add(issue, is);
    if (seen !== null) seen = { ...seen, at: -Infinity };
  };
  return {
    identity,
    files: [],
    observe: async () => {
      if (seen !== null && now() - seen.at < FRESH_MS) return seen.plan;
      const issues = await read(gh.ask);
      if (seen === null) requireSome(issues, place);
      const found = await issueTasks(gh.ask, place, issues, settled);
      if (seen === null) requireNoneMissing(found);
      const { tasks } = found;
      seen = { at: now(), open: issues.open, plan: { source: identity, tasks } };
      return seen.plan;
    },
    demands: () => Promise.resolve(NO_DEMANDS),
    mark: async (task, accepted) => {
      const number = issueNumber(task);
      if (number === null) return;
      const { state, comments } = await viewIssue(gh.insist, place, number);
      if (state === null) return;
      if (accepted !== undefined) await tell(gh, place, number, accepted, comments);
      if (state !== "OPEN") return;
      await settle(gh, place, number);
      settled.add(number);
      const issue = seen?.open.find((one) => one.number === number);
      act(issue, place.whenDone === "close" ? "closed" : "unlabelled");
    },
    markedIn: (file) => file,
    takeBackMarks: async (done) => {
      const before = new Map((seen?.open ?? []).map((issue) => [issue.number, issue]));
      const taken: TaskId[] = [];
      for (const { number } of (await read(gh.insist)).closed) {
        if (!before.has(number) || done.has(issueId(number)) || (await isPersons(gh, place, number)))
          continue;
        await gh.insist("issue", "reopen", String(number), ...inRepo(place));
        act(before.get(number), "opened");
        taken.push(issueId(number));
      }
      return taken;
    },
    closingWords: (task) => {
      const number = issueNumber(task);
      return number === null ? null : `Closes ${place.repo ?? ""}#${number}`;
    },
  };
}

/** Says once what was accepted: the comment carries a sign that is not shown, by which it is found again. */
async function tell(
  gh: Gh,
  place: GithubPlace,
  number: number,
  { run, iteration, commit, gates }: AcceptedWork,
  comments: readonly string[],
): Promise<void> {
  const sign = `<!-- ralph: accepted in ${run}, iteration ${iteration} -->`;
  if (comments.some((comment) => comment.includes(sign))) return;
  const where = commit === null ? "" : ` Its work is in ${commit}.`;
  const passed =
    gates.length === 0 ? "No gate is configured." : `These gates had to pass: ${gates.join(", ")}.`;
  const body = `Done, and accepted by ralph in iteration ${iteration}.${where} ${passed}\n\n${sign}`;
  await gh.insist("issue", "comment", String(number), ...inRepo(place), "--body", body);
}

/** An issue that people are to close themselves loses the label, so that it is not worked on again. */
async function settle(gh: Gh, place: GithubPlace, number: number): Promise<void> {
  const act = place.whenDone === "close" ? ["close", String(number)] : ["edit", String(number)];
  const how = place.whenDone === "close" ? [] : ["--remove-label", place.label];
  await gh.insist("issue", ...act, ...inRepo(place), ...how);
}

/** Whether it was closed by somebody else than the account that is signed in here, which agents may use. */
async function isPersons(gh: Gh, { repo }: GithubPlace, number: number): Promise<boolean> {
  const path = `repos/${repo ?? "{owner}/{repo}"}/issues/${number}`;
  const closer = await gh.insist("api", path, "--jq", ".closed_by.login");
  const own = await ownLogin(gh);
  return own !== null && closer !== "" && closer !== "null" && closer !== own;
}

/** A token of an application has no user, so nobody can tell its closings from an agent's. */
async function ownLogin(gh: Gh): Promise<string | null> {
  try {
    return await gh.ask("api", "user", "--jq", ".login");
  } catch (error) {
    if (error instanceof RalphError) return null;
    throw error;
  }
}

function requireSome({ open, closed }: Issues, { label, repo }: GithubPlace): void {
  if (open.length + closed.length > 0) return;
  const where = repo === null ? "" : ` --repo ${repo}`;
  throw new RalphError("no-tasks", `no issue has the label "${label}"`, {
    hint: `give it to what ralph is to do: gh issue edit 12 --add-label "${label}"${where}`,
  });
}
