import { z } from "zod";
import { few } from "../../core/text.ts";
import { planProblem } from "../../core/plan-checks.ts";
import { plainTask, type Plan, type SourceIdentity, type Task, type TaskId } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import type { AcceptedWork, TaskSource } from "../../engine/ports.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { NO_FILE } from "./task-format.ts";
import {
  type Ask,
  createGh,
  type Gh,
  type GhOptions,
  githubLabel,
  type GithubPlace,
  isNotFound,
} from "./gh.ts";

interface GithubOptions extends GhOptions {
  readonly now?: () => number;
}

/** Several looks in a row are one. */
const FRESH_MS = 5_000;

/** Tasks that are GitHub issues with a label, through `gh`. Their mark is that they are closed. */
export function createGithubSource(place: GithubPlace, options: GithubOptions): TaskSource {
  const { now = () => performance.now() } = options;
  const gh = createGh(options);
  const identity: SourceIdentity = { kind: "github", label: githubLabel(place), path: null };
  const isClosing = place.whenDone === "close";
  const settled = new Set<number>();
  const acts = new OwnActs();
  let seen: { readonly at: number; readonly open: readonly Issue[]; readonly plan: Plan } | null = null;
  const read = async (ask: Ask): Promise<Issues> => acts.appliedTo(await readIssues(ask, place));
  const act = (issue: Issue | undefined, to: Act): void => {
    if (issue !== undefined) acts.add(issue, to);
    if (seen !== null) seen = { ...seen, at: -Infinity };
  };
  return {
    ...NO_FILE,
    identity,
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
    mark: async (task, accepted) => {
      const number = issueNumber(task);
      if (number === null) return;
      const { state, comments } = await viewIssue(gh.insist, place, number);
      if (state === null) return;
      if (accepted !== undefined) await tell(gh, place, number, accepted, comments);
      if (state !== "OPEN") return;
      // An issue that people are to close themselves loses the label, so that it is not worked on again.
      const [verb, ...how] = isClosing ? ["close"] : ["edit", "--remove-label", place.label];
      await gh.insist("issue", verb, String(number), ...inRepo(place), ...how);
      settled.add(number);
      const issue = seen?.open.find((one) => one.number === number);
      act(issue, isClosing ? "closed" : "none");
    },
    takeBackMarks: async (done) => {
      const before = new Map((seen?.open ?? []).map((issue) => [issue.number, issue]));
      const taken: TaskId[] = [];
      for (const { number } of (await read(gh.insist)).closed) {
        if (!before.has(number) || done.has(issueId(number)) || (await isPersons(gh, place, number)))
          continue;
        await gh.insist("issue", "reopen", String(number), ...inRepo(place));
        act(before.get(number), "open");
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

/** Our own acts, until GitHub's lists show them: they lag behind, and a mark must not seem to be taken back. */
class OwnActs {
  readonly #acts = new Map<number, { readonly issue: Issue; readonly to: Act }>();

  add(issue: Issue, to: Act): void {
    this.#acts.set(issue.number, { issue, to });
  }

  /** The lists as they will be; what they show already is forgotten here. */
  appliedTo(shown: Issues): Issues {
    const place = (number: number): Act =>
      (["open", "closed"] as const).find((list) => shown[list].some((one) => one.number === number)) ??
      "none";
    for (const [number, { to }] of this.#acts) if (place(number) === to) this.#acts.delete(number);
    const list = (name: keyof Issues): readonly Issue[] => [
      ...shown[name].filter(({ number }) => !this.#acts.has(number)),
      ...[...this.#acts.values()].filter(({ to }) => to === name).map(({ issue }) => issue),
    ];
    return { open: list("open"), closed: list("closed") };
  }
}

/** The list in which an issue is to be; none without the label. */
type Act = keyof Issues | "none";

/** More open tasks than this nobody gave a machine on purpose. */
const OPEN_MAX = 500;
/** Those that are done are shown as far as they are recent. */
const CLOSED_MAX = 100;

interface Issues {
  readonly open: readonly Issue[];
  readonly closed: readonly Issue[];
}

/** The issues with the label, oldest first. */
async function readIssues(ask: Ask, place: GithubPlace): Promise<Issues> {
  const list = async (state: string, limit: number, fields: string): Promise<readonly Issue[]> => {
    const about = ["--state", state, "--label", place.label, "--limit", String(limit)];
    const printed = await ask("issue", "list", ...inRepo(place), ...about, "--json", fields);
    return parsed(z.array(ISSUE), printed).toSorted((a, b) => a.number - b.number);
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
async function issueTasks(
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

interface IssueTasks {
  readonly tasks: readonly Task[];
  /** What tasks wait for and does not exist. */
  readonly missing: readonly TaskId[];
}

/** A plan that was begun is kept: then a task waits for what does not exist, and people are told so. */
function requireNoneMissing({ tasks, missing: [missing] }: IssueTasks): void {
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

interface ViewedIssue {
  /** Null when there is no such issue. */
  readonly state: string | null;
  readonly comments: readonly string[];
}

async function viewIssue(ask: Ask, place: GithubPlace, number: number): Promise<ViewedIssue> {
  try {
    const fields = ["--json", "state,comments"];
    const printed = await ask("issue", "view", String(number), ...inRepo(place), ...fields);
    const { state, comments } = parsed(VIEWED, printed);
    return { state, comments: comments.map(({ body }) => body) };
  } catch (error) {
    if (isNotFound(error)) return { state: null, comments: [] };
    throw error;
  }
}

function inRepo({ repo }: GithubPlace): readonly string[] {
  return repo === null ? [] : ["--repo", repo];
}

function parsed<Shape>(shape: z.ZodType<Shape>, printed: string): Shape {
  try {
    return shape.parse(JSON.parse(printed));
  } catch (error) {
    throw new RalphError("unreachable", "gh printed something that is not JSON", {
      hint: "is it a current one? gh --version",
      cause: error,
    });
  }
}

const VIEWED = z.object({ state: z.string(), comments: z.array(z.object({ body: z.string() })).default([]) });

/** An issue as gh prints it; of a closed one we only ask for its title. */
const ISSUE = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  labels: z.array(z.object({ name: z.string() })).optional(),
});
type Issue = z.infer<typeof ISSUE>;

const TITLE_MAX = 200;
const CRITERIA_MAX = 50;

/** Anybody may have written it, so everything in it has a limit. */
export function issueTask({ number, title, body, labels = [] }: Issue, isDone: boolean): Task {
  const text = shownText(body ?? "");
  const boxes = scanChecklist(Buffer.from(text));
  return plainTask({
    id: issueId(number),
    title: shownText(title).replaceAll(/\s+/g, " ").slice(0, TITLE_MAX) || `issue ${number}`,
    description: text,
    criteria: boxes.flatMap(({ task }) => [task.title, ...task.criteria]).slice(0, CRITERIA_MAX),
    dependsOn: dependenciesIn(text)
      .filter((other) => other !== number)
      .map(issueId),
    priority: priorityOf(labels.map(({ name }) => name)),
    done: isDone,
  });
}

function issueId(number: number): TaskId {
  return `issue-${number}`;
}

function issueNumber(id: TaskId): number | null {
  const digits = /^issue-(\d{1,9})$/.exec(id)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** `P1`, `priority: high`, `priority/2`; of several the first in line. */
function priorityOf(labels: readonly string[]): number | null {
  const found = labels.flatMap((label) => {
    const word = /^p(?:rio(?:rity)?)?[ \t:/_-]*(\S+)$/i.exec(label.trim())?.[1];
    const priority = word === undefined ? null : readPriority(word);
    return priority === null ? [] : [priority];
  });
  return found.length === 0 ? null : Math.min(...found);
}

const WORDS = ["critical urgent", "high", "medium normal", "low"];

/** `2` and the words that people use; null: none of these. */
function readPriority(text: string): number | null {
  if (/^-?\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text);
  const rank = WORDS.findIndex((words) => words.split(" ").includes(text.toLowerCase()));
  return rank === -1 ? null : rank;
}

const BODY_MAX = 20_000;

/** The text as the page shows it: whoever set the label did not see hidden comments and signs. */
function shownText(text: string): string {
  const shown = withoutComments(text.slice(0, BODY_MAX * 4))
    .replaceAll(/[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/gu, "")
    .replaceAll("\r\n", "\n")
    .trim();
  return shown.length > BODY_MAX ? `${shown.slice(0, BODY_MAX)}…` : shown;
}

/** One that is never closed hides all that follows, as it does on the page. */
function withoutComments(text: string): string {
  let shown = "";
  for (let at = 0; ;) {
    const start = text.indexOf("<!--", at);
    if (start === -1) return shown + text.slice(at);
    shown += text.slice(at, start);
    const end = text.indexOf("-->", start + 4);
    if (end === -1) return shown;
    at = end + 3;
  }
}

/** The issues that must be closed first: "depends on #12 and #13", "blocked by #7". */
function dependenciesIn(text: string): readonly number[] {
  const numbers = [
    ...text.matchAll(/\b(?:depends[ -]on|blocked[ -]by|requires)\b:?((?:[ \t,]|and|#\d{1,9})*)/gi),
  ]
    .flatMap(([, list = ""]) => [...list.matchAll(/#(\d+)/g)])
    .map(([, number]) => Number(number));
  return [...new Set(numbers)].slice(0, DEPENDENCIES_MAX);
}

const DEPENDENCIES_MAX = 50;
