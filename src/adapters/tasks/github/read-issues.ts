import { planProblem } from "../../../core/plan/check-plan.ts";
import type { Task, TaskId } from "../../../core/plan/task.ts";
import { few } from "../../../core/few.ts";
import { RalphError } from "../../../core/ralph-error.ts";
import { isNotFound, type Ask } from "./gh.ts";
import type { GithubPlace } from "./github-place.ts";
import { issueNumber, issueTask, type Issue } from "./issue-task.ts";

/** More open tasks than this nobody gave a machine on purpose. */
const OPEN_MAX = 500;
/** Those that are done are shown as far as they are recent. */
const CLOSED_MAX = 100;

export interface Issues {
  readonly open: readonly Issue[];
  readonly closed: readonly Issue[];
}

/** The issues with the label, oldest first. */
export async function readIssues(ask: Ask, place: GithubPlace): Promise<Issues> {
  const list = async (state: string, limit: number, fields: string): Promise<readonly Issue[]> => {
    const about = ["--state", state, "--label", place.label, "--limit", String(limit)];
    const printed = await ask("issue", "list", ...inRepo(place), ...about, "--json", fields);
    return issuesIn(printed).toSorted((a, b) => a.number - b.number);
  };
  const [open, closed] = await Promise.all([
    list("open", OPEN_MAX, "number,title,body,labels"),
    list("closed", CLOSED_MAX, "number,title"),
  ]);
  if (open.length < OPEN_MAX) return { open, closed };
  throw new RalphError("bad-tasks", `${OPEN_MAX} open issues or more have the label "${place.label}"`, {
    hint: "use a label of its own for what ralph is to do",
  });
}

/**
 * The tasks, once it is known which of the issues they wait for are closed; `settled` remembers those. One that is open and
 * has no label is waited for.
 */
export async function issueTasks(
  ask: Ask,
  place: GithubPlace,
  { open, closed }: Issues,
  settled: Set<number>,
): Promise<IssueTasks> {
  const tasks = [
    ...open.map((issue) => issueTask(issue, false)),
    ...closed.map((issue) => issueTask(issue, true)),
  ].toSorted((a, b) => (issueNumber(a.id) ?? 0) - (issueNumber(b.id) ?? 0));
  const known = new Set(tasks.map(({ id }) => id));
  const outside = new Set(tasks.flatMap(({ dependsOn }) => dependsOn).filter((id) => !known.has(id)));
  const missing: TaskId[] = [];
  for (const id of outside) {
    const number = issueNumber(id) ?? 0;
    const state = settled.has(number) ? "CLOSED" : (await viewIssue(ask, place, number)).state;
    if (state === null) missing.push(id);
    else if (state !== "OPEN") settled.add(number);
  }
  const without = (isLeftOut: (id: TaskId) => boolean): readonly Task[] =>
    tasks.map((task) => ({ ...task, dependsOn: task.dependsOn.filter((id) => !isLeftOut(id)) }));
  const whole = without((id) => outside.has(id));
  const problem = planProblem(whole.map((task) => ({ task, line: issueNumber(task.id) ?? 0 })));
  if (problem !== null)
    throw new RalphError("bad-tasks", `GitHub issues: ${problem.replaceAll(/\(line (\d+)\)/g, "(#$1)")}`);
  return { tasks: without((id) => outside.has(id) && settled.has(issueNumber(id) ?? 0)), missing };
}

export interface IssueTasks {
  readonly tasks: readonly Task[];
  /** What tasks wait for and does not exist. */
  readonly missing: readonly TaskId[];
}

/** A plan that was begun is kept: then a task waits for what does not exist, and people are told so. */
export function requireNoneMissing({ tasks, missing: [missing] }: IssueTasks): void {
  if (missing === undefined) return;
  const ids = tasks.filter(({ dependsOn }) => dependsOn.includes(missing)).map(({ id }) => id);
  const depend = ids.length === 1 ? "depends" : "depend";
  throw new RalphError(
    "bad-tasks",
    `GitHub issues: ${few(ids)} ${depend} on #${issueNumber(missing) ?? ""}, which does not exist`,
    {
      hint: `take the words out of it, or name another issue: gh issue edit ${issueNumber(ids[0] ?? "") ?? ""}`,
    },
  );
}

export interface ViewedIssue {
  /** Null when there is no such issue. */
  readonly state: string | null;
  readonly comments: readonly string[];
}

export async function viewIssue(ask: Ask, place: GithubPlace, number: number): Promise<ViewedIssue> {
  try {
    const fields = ["--json", "state,comments"];
    const printed = await ask("issue", "view", String(number), ...inRepo(place), ...fields);
    const { state, comments } = parsed(printed) as { state?: unknown; comments?: unknown };
    const bodies = (Array.isArray(comments) ? (comments as { body?: unknown }[]) : []).map(
      ({ body }) => body,
    );
    return {
      state: typeof state === "string" ? state : null,
      comments: bodies.filter((body) => typeof body === "string"),
    };
  } catch (error) {
    if (isNotFound(error)) return { state: null, comments: [] };
    throw error;
  }
}

export function inRepo({ repo }: GithubPlace): readonly string[] {
  return repo === null ? [] : ["--repo", repo];
}

function issuesIn(printed: string): Issue[] {
  const list = parsed(printed);
  const isIssue = (one: unknown): one is Issue =>
    typeof one === "object" && one !== null && "number" in one && "title" in one;
  return Array.isArray(list) ? list.filter(isIssue) : [];
}

function parsed(printed: string): unknown {
  try {
    return JSON.parse(printed) as unknown;
  } catch (error) {
    throw new RalphError("unreachable", "gh printed something that is not JSON", {
      hint: "is it a current one? gh --version",
      cause: error,
    });
  }
}
