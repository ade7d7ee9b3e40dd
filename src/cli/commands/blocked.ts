import { type Project, isDriven, openProject } from "../../app/project.ts";
import { blockedNow, meantTask, readState } from "../../app/project-log.ts";
import type { Command } from "commander";
import { act as actOn, mustAct, wordsIfDone } from "../../app/operator.ts";
import { RalphError } from "../../core/errors.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { isAcceptance, isMergeHeld, whyBlocked } from "../../core/loop/task-status.ts";
import type { TaskId } from "../../core/plan.ts";
import { isOpen, taskState, type State } from "../../core/state.ts";
import { asArgument, asWords, type Style } from "../../core/text.ts";
import { formatDuration } from "../../core/time.ts";
import {
  inboxOf,
  type InboxItem,
  blockedEntry,
  isMeantBy,
  whatToDo,
  type BlockedTask,
  choiceInWords,
  openProposals,
  openQuestions,
  proposalLines,
  type OpenQuestion,
} from "../../core/views/inbox.ts";
import { count } from "../../core/views/explain-words.ts";
import { tell, type Act, type CliContext } from "../commands.ts";
import { columns, shortened } from "../print/style.ts";
import { duration } from "../run-options.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--suggest", "say what would help, and what to type")
    .option("--json", "print JSON")
    .action(act(blocked));
}

async function blocked(context: CliContext, { suggest }: { suggest?: boolean }): Promise<number> {
  const project = await openProject(context);
  const tasks = await blockedNow(project, await readState(project));
  const isShort = suggest !== true;
  tell(context, tasks.map(blockedEntry), () => {
    if (tasks.length === 0) return ["No task is blocked. Where all of them stand: ralph status"];
    return isShort ? columns(tasks.map(cells)) : suggestionLines(tasks);
  });
  if (isShort && !context.json && tasks.length > 0) context.say("what would help: ralph blocked --suggest");
  return 0;
}

function cells(task: BlockedTask): readonly string[] {
  const { attempts, lastTimeoutMs } = task;
  return [
    task.id,
    shortened(task.title, TITLE_LENGTH),
    count(attempts, "attempt"),
    lastTimeoutMs === null ? "" : `${formatDuration(lastTimeoutMs)} each`,
    shortened(task.why, WHY_LENGTH),
  ];
}

const TITLE_LENGTH = 40;
const WHY_LENGTH = 100;

/** Each blocked task, why, what would help, and below it what to type. */
export function suggestionLines(tasks: readonly BlockedTask[]): readonly string[] {
  const heads = columns(
    tasks.map(({ id, title, why, suggestion }) => [
      id,
      shortened(title, TITLE_LENGTH),
      shortened(why, WHY_LENGTH),
      suggestion,
    ]),
  );
  const indent = " ".repeat(Math.max(0, ...tasks.map(({ id }) => id.length)) + 2);
  return tasks.flatMap((task, at) => [heads[at] ?? "", `${indent}→ ${whatToDo(task)}`]);
}

export function defineInbox(command: Command, act: Act): void {
  command.option("--json", "print JSON").action(act(inbox));
}

async function inbox(context: CliContext): Promise<number> {
  const project = await openProject(context);
  const state = await readState(project);
  const blocked = await blockedNow(project, state);
  const items = inboxOf(state);
  const proposals = openProposals(state);
  return tell(context, items, () => {
    if (items.length + proposals.length === 0)
      return ["Nothing waits for you. Where the tasks stand: ralph status"];
    const waiting = items.flatMap((item) => itemLines(item, state, blocked, context.style));
    if (proposals.length === 0) return waiting;
    const edits = proposals.flatMap(proposalLines).map((line) => `  ${line}`);
    return [...waiting, "Edits of the task list by agents, which were undone:", ...edits];
  });
}

function itemLines(
  item: InboxItem,
  state: State,
  blocked: readonly BlockedTask[],
  style: Style,
): readonly string[] {
  const { task, kind, text } = item;
  const help = blocked.find(({ id }) => id === task);
  if (kind === "blocked" && help !== undefined)
    return [`${style.bad("■")} ${task} is blocked: ${text}`, `    → ${whatToDo(help)}`];
  if (kind === "review")
    return [
      `${style.ask("◎")} ${task} is accepted and waits for your approval`,
      `    → look at it: ralph diff ${asArgument(task)}`,
      `    → ralph approve ${asArgument(task)}, or: ralph send-back ${asArgument(task)} "what to change"`,
    ];
  const now = Date.now();
  const question = state.tasks[task]?.question ?? null;
  const askedFor = formatDuration(Math.max(0, now - (question?.askedAt ?? now)));
  const choice = question === null ? "" : choiceInWords(question, now);
  return [
    `${style.ask("?")} ${task} asks, for ${askedFor} now: ${text}`,
    ...(choice === "" ? [] : [`    ${choice}`]),
    ...(question?.acceptance == null ? [] : [`    → see the work: ralph why ${question.iteration}`]),
    `    → ${howTo(item)}`,
  ];
}

export function defineDecide(command: Command, act: Act): void {
  command
    .argument("[task]", "the task that asks; may be left out when only one does")
    .argument("[answer]", "in quotes")
    .option("--json", "print JSON")
    .allowExcessArguments()
    .action(act((context) => decide(context, command.args)));
}

async function decide(context: CliContext, words: readonly string[]): Promise<number> {
  if (words.length > 2)
    throw new RalphError("usage", "an answer of several words needs quotes", {
      hint: `ralph decide ${asArgument(words[0] ?? "TASK")} ${asWords(words.slice(1).join(" "))}`,
    });
  const project = await openProject(context);
  const state = await readState(project);
  const { task: asked, answer } = wordsAsAnswer(words, state);
  const task = await meantTask(asked, state, project);
  await mustAct(project, { do: "decide", task, answer });
  const { text = "", options = [], acceptance } = openQuestions(state).find((one) => one.task === task) ?? {};
  // Beside "accept", any words reject a claim, and are told to the agent.
  const isOther = acceptance === null && options.length > 0 && !options.includes(answer);
  const said = [
    ...(isOther
      ? [`note: "${answer}" is none of the options (${options.join(", ")}); it is taken as it is`]
      : []),
    `${task} asked: ${text}`,
    `answered: ${answer}`,
  ];
  // It may have asked with the last iteration that it had.
  const isBlocked = state.tasks[task]?.blockedReason != null;
  const completes = state.tasks[task]?.question?.acceptance?.is === "completion" && isAcceptance(answer);
  const next = isBlocked
    ? `it is blocked as well: ralph unblock ${asArgument(task)}`
    : `${await whatGoesOn(project, state, task)}${completes ? ` (no agent is asked again about ${task})` : ""}`;
  if (!context.json) {
    for (const line of said) context.say(line);
    context.stderr.write(`  → ${next}\n`);
  }
  return tell(context, { done: true, said: said.join("\n"), task, question: text, answer, next }, () => []);
}

/** Which question is meant, and what its answer is; with one word, that is the answer to the only question. */
function wordsAsAnswer(
  [first = "", second]: readonly string[],
  state: State,
): { readonly task: string; readonly answer: string } {
  const open = openQuestions(state);
  const isOption = open.some(({ options }) => options.includes(first));
  const isTask = state.tasks[first] !== undefined && !isOption;
  const answer = (second ?? (isTask ? "" : first)).trim();
  const [only] = open;
  if (answer === "" && only !== undefined)
    throw new RalphError("usage", `say the answer${listed(open)}`, {
      hint: howTo(open.find(({ task }) => task === first) ?? only),
    });
  if (second !== undefined) return { task: first, answer };
  if (only === undefined)
    throw new RalphError("usage", "no task asks a question", { hint: "what waits for you: ralph inbox" });
  if (open.length > 1)
    throw new RalphError("usage", `${open.length} tasks ask; say which one you answer${listed(open)}`, {
      hint: howTo(only),
    });
  return { task: only.task, answer };
}

/** After a sentence, a line for each. */
function listed(questions: readonly OpenQuestion[]): string {
  const now = Date.now();
  const lines = questions.map((question) => {
    const choice = choiceInWords(question, now);
    return `\n  ${question.task}: ${question.text}${choice === "" ? "" : `  (${choice})`}`;
  });
  return `:${lines.join("")}`;
}

function howTo({ task, options }: Pick<InboxItem, "task" | "options">): string {
  return `ralph decide ${asArgument(task)} ${asWords(options[0] ?? "…")}`;
}

interface UnblockFlags {
  readonly all?: boolean;
  readonly filter?: string;
  readonly timeout?: number;
  readonly timeoutMultiplier?: number;
  readonly reason?: string;
}

export function defineUnblock(command: Command, act: Act): void {
  command
    .argument("[task]", "the task to unblock")
    .argument("[reason]", "what has changed, in quotes; the same as --reason")
    .option("--all", "every blocked task")
    .option("--filter <word>", "those of a complexity (ui_heavy), or with this word in the reason")
    .option(
      "--timeout <duration>",
      "of its iterations from now on, exactly: 1800, 40m, 2h",
      duration("--timeout"),
    )
    .option("--timeout-multiplier <factor>", "so many times its last timeout", factor)
    .option("--reason <text>", "what has changed; it is kept")
    .option("--json", "print JSON")
    .action(act(unblock));
}

async function unblock(
  context: CliContext,
  asked: string | undefined,
  said: string | undefined,
  flags: UnblockFlags,
): Promise<number> {
  refuseContradictions(asked, flags);
  const project = await openProject(context);
  const before = await readState(project);
  const blocked = await blockedNow(project, before);
  const task = asked === undefined ? asked : await meantTask(asked, before, project);
  const { filter, reason = said ?? "" } = flags;
  const chosen = blocked.filter((one) => filter === undefined || isMeantBy(filter, one)).map(({ id }) => id);
  const meant = task === undefined ? chosen : [task];
  const words: string[] = meant.length === 0 ? [nothing(blocked, filter)] : [];
  const held = meant.filter((id) => isMergeHeld(taskState(before, id)));
  const freed: TaskId[] = [];
  for (const id of meant) {
    const timeoutMs = timeoutOf(blocked.find((one) => one.id === id)?.lastTimeoutMs ?? null, flags);
    const acted = await actOn(project, { do: "unblock", task: id, reason, timeoutMs, runs: true });
    // Of several, those that somebody else unblocked in between are left out.
    if (acted.is === "refused" && task === undefined) continue;
    const done = wordsIfDone(acted);
    if (held.includes(id)) continue;
    freed.push(id);
    words.push(done);
  }
  const next = await whatGoesOnWith(project, freed);
  if (!context.json) printDone(words, next, context);
  const merged = held.length === 0 ? { words: [], code: 0 } : await mergeAgain(project, held, context);
  if (!context.json) for (const line of merged.words) context.say(line);
  const all = [...words, ...merged.words].join("\n");
  tell(context, { done: meant.length > 0, said: all, tasks: freed, next }, () => []);
  return merged.code;
}

/** What was done, and below it what happens next. */
export function printDone(
  done: readonly string[],
  next: readonly string[],
  { say, stderr }: CliContext,
): void {
  for (const line of done) say(line);
  for (const step of next) stderr.write(`  → ${step}\n`);
}

/** What happens next to tasks that are no longer blocked; the same step is named once. */
export async function whatGoesOnWith(project: Project, tasks: readonly TaskId[]): Promise<readonly string[]> {
  const state = await readState(project);
  return [...new Set(await Promise.all(tasks.map((id) => whatGoesOn(project, state, id))))];
}

/** Tells a run that is on, or makes one for nothing else, and says what came of it. */
async function mergeAgain(
  project: Project,
  held: readonly TaskId[],
  context: CliContext,
): Promise<{ readonly words: readonly string[]; readonly code: number }> {
  if (project.queue !== null || (await isDriven(project)))
    return { words: held.map((id) => `the merge of ${id} is tried again by the run that is on`), code: 0 };
  const { runJust } = await import("./run.ts");
  const before = await readState(project);
  await runJust(held, before, context);
  const after = await readState(project);
  const words = held.map((id) => {
    const { merge } = taskState(after, id);
    const base = taskState(before, id).worktree?.base ?? "its base";
    const why = whyBlocked(taskState(after, id));
    if (why !== null) return `${id} still waits: ${why}`;
    if (merge?.is === "merged") return `${id} is merged into ${base}`;
    return `${id} is not merged yet\n  → ralph why ${asArgument(id)}`;
  });
  const isHeld = held.some((id) => whyBlocked(taskState(after, id)) !== null);
  return { words, code: isHeld ? EXIT_CODES.blocked : 0 };
}

function refuseContradictions(task: string | undefined, flags: UnblockFlags): void {
  const ways = [task !== undefined, flags.all === true, flags.filter !== undefined].filter(Boolean);
  if (ways.length === 0)
    throw new RalphError("usage", "say which task to unblock", {
      hint: "ralph unblock TASK, or --filter WORD, or --all; which are blocked: ralph blocked",
    });
  if (ways.length > 1)
    throw new RalphError("usage", "a task, --filter and --all exclude each other", {
      hint: "ralph unblock TASK, or --filter WORD, or --all",
    });
  if (flags.timeout !== undefined && flags.timeoutMultiplier !== undefined)
    throw new RalphError("usage", "--timeout and --timeout-multiplier exclude each other", {
      hint: "--timeout 40m is exact, --timeout-multiplier 2 doubles the last one",
    });
}

function nothing(blocked: readonly BlockedTask[], filter: string | undefined): string {
  if (blocked.length === 0 || filter === undefined) return "no task is blocked";
  const all = blocked.map(({ id, complexity }) => `${id} (${complexity ?? "unknown"})`).join(", ");
  return `no blocked task is "${filter}" or has it in its reason; blocked are ${all}`;
}

function timeoutOf(last: number | null, { timeout, timeoutMultiplier }: UnblockFlags): number | null {
  if (timeout !== undefined || timeoutMultiplier === undefined || last === null) return timeout ?? null;
  return Math.max(1_000, Math.round(last * timeoutMultiplier));
}

function factor(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text.trim()) && Number(text) > 0) return Number(text);
  throw new RalphError("usage", `--timeout-multiplier is "${text}"; expected a number above 0`, {
    hint: "for example: --timeout-multiplier 3.0",
  });
}

/** Whether a run takes up a task that waited for a person, or what to type. */
export async function whatGoesOn(project: Project, { run, tasks }: State, task: TaskId): Promise<string> {
  const isShared = project.queue !== null;
  if (!isOpen(run)) return isShared ? "put it into the queue again: ralph submit" : "go on: ralph run";
  if (!(await isDriven(project)))
    return isShared ? "no worker is here; start one: ralph worker" : "go on: ralph run";
  const only = run.settings.onlyTasks;
  const isLeftAlone =
    run.stop !== null || (only !== null && !only.includes(task)) || tasks[task]?.exhaustedIn === run.id;
  if (!isLeftAlone) return isShared ? "a worker takes it up" : "the run that is on takes it up";
  return `the run that is on does not take it up; after it: ${isShared ? "ralph submit" : "ralph run"}`;
}
