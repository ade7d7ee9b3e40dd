import { asArgument, asWords } from "../../core/text.ts";
import { formatDuration, parseDuration } from "../../core/time.ts";
import type { Command } from "commander";
import { blockedNow, suggestionLines, TITLE_LENGTH, WHY_LENGTH } from "../blocked-now.ts";
import { readState, refreshStatus, withLog } from "../project-state.ts";
import type { Act, CliContext } from "../commands.ts";
import { columns, shortened, styleFor, type Style } from "../print/style.ts";
import { requirePerson, unknownTask } from "../require-person.ts";
import { isDriven, openProject, type Project } from "../../compose.ts";
import type { EventOf } from "../../core/events.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { isOpen, taskState, type State } from "../../core/loop/state.ts";
import { isAcceptance, isMergeHeld, statusOf, whyBlocked } from "../../core/loop/task-status.ts";
import type { TaskId } from "../../core/plan/task.ts";
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
} from "../../core/projections/inbox.ts";
import { RalphError } from "../../core/ralph-error.ts";

interface BlockedFlags {
  readonly suggest?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--suggest", "say what would help, and what to type")
    .option("--json", "print JSON")
    .action((flags: BlockedFlags) => act((context) => blocked(flags, context)));
}

async function blocked(flags: BlockedFlags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const tasks = await blockedNow(project, await readState(project));
  const { stdout, stderr } = context;
  if (flags.json === true) {
    stdout.write(`${JSON.stringify(tasks.map(blockedEntry), null, 2)}\n`);
    return 0;
  }
  if (tasks.length === 0) stdout.write("No task is blocked. Where all of them stand: ralph status\n");
  const lines = flags.suggest === true ? suggestionLines(tasks) : columns(tasks.map(cells));
  for (const line of lines) stdout.write(`${line}\n`);
  if (tasks.length > 0 && flags.suggest !== true)
    stderr.write("ralph: what would help: ralph blocked --suggest\n");
  return 0;
}

function cells(task: BlockedTask): readonly string[] {
  const { attempts, lastTimeoutMs } = task;
  return [
    task.id,
    shortened(task.title, TITLE_LENGTH),
    attempts === 1 ? "1 attempt" : `${attempts} attempts`,
    lastTimeoutMs === null ? "" : `${formatDuration(lastTimeoutMs)} each`,
    shortened(task.why, WHY_LENGTH),
  ];
}

export function defineInbox(command: Command, act: Act): void {
  command
    .option("--json", "print JSON")
    .action((flags: { json?: boolean }) => act((context) => inbox(flags.json === true, context)));
}

async function inbox(asJson: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const state = await readState(project);
  const blocked = await blockedNow(project, state);
  const items = inboxOf(state);
  const proposals = openProposals(state);
  const { stdout, env } = context;
  if (asJson) stdout.write(`${JSON.stringify(items, null, 2)}\n`);
  else if (items.length + proposals.length === 0)
    stdout.write("Nothing waits for you. Where the tasks stand: ralph status\n");
  else
    for (const item of items)
      for (const line of itemLines(item, state, blocked, styleFor(stdout, env))) stdout.write(`${line}\n`);
  if (!asJson && proposals.length > 0) stdout.write("Edits of the task list by agents, which were undone:\n");
  if (!asJson) for (const line of proposals.flatMap(proposalLines)) stdout.write(`  ${line}\n`);
  return 0;
}

function itemLines(
  item: InboxItem,
  state: State,
  blocked: readonly BlockedTask[],
  style: Style,
): readonly string[] {
  const { task, kind, text, options } = item;
  const help = blocked.find(({ id }) => id === task);
  if (kind === "blocked" && help !== undefined)
    return [`${style.bad("■")} ${task} is blocked: ${text}`, `    → ${whatToDo(help)}`];
  const now = Date.now();
  const question = state.tasks[task]?.question ?? null;
  const askedFor = formatDuration(Math.max(0, now - (question?.askedAt ?? now)));
  const choice = question === null ? "" : choiceInWords(question, now);
  return [
    `${style.ask("?")} ${task} asks, for ${askedFor} now: ${text}`,
    ...(choice === "" ? [] : [`    ${choice}`]),
    ...(question?.acceptance == null ? [] : [`    → see the work: ralph why ${question.iteration}`]),
    `    → ralph decide ${asArgument(task)} ${asWords(options[0] ?? "…")}`,
  ];
}

export function defineDecide(command: Command, act: Act): void {
  command
    .argument("[task]", "the task that asks; may be left out when only one does")
    .argument("[answer]", "in quotes")
    .allowExcessArguments()
    .action(() => act((context) => decide(command.args, context)));
}

async function decide(words: readonly string[], context: CliContext): Promise<number> {
  if (words.length > 2)
    throw new RalphError("usage", "an answer of several words needs quotes", {
      hint: `ralph decide ${asArgument(words[0] ?? "TASK")} ${asWords(words.slice(1).join(" "))}`,
    });
  const project = await openProject(context);
  requirePerson(project, context.env, "answer questions");
  for (;;) {
    const state = await readState(project);
    const { task, answer } = wordsAsAnswer(words, state);
    const question = await questionOf(task, state, project);
    if (await recordAnswer(project, state, question, answer)) {
      await refreshStatus(project);
      tell(question, answer, context);
      context.stderr.write(`  → ${await nextStep(project, state, question.task, answer)}\n`);
      return 0;
    }
  }
}

interface Words {
  readonly task: string | null;
  readonly answer: string;
}

function wordsAsAnswer([first = "", second]: readonly string[], state: State): Words {
  const open = openQuestions(state);
  const isOption = open.some(({ options }) => options.includes(first));
  const isTask = state.tasks[first] !== undefined && !isOption;
  const answer = (second ?? (isTask ? "" : first)).trim();
  if (answer === "" && open.length > 0)
    throw new RalphError("usage", `say the answer${listed(open)}`, {
      hint: howTo(open.find(({ task }) => task === first) ?? open[0]),
    });
  return { task: second === undefined ? null : first, answer };
}

/** The one that is meant; refuses with what would be right. */
async function questionOf(task: string | null, state: State, project: Project): Promise<OpenQuestion> {
  const open = openQuestions(state);
  if (task !== null && state.tasks[task] === undefined) throw await unknownTask(task, state, project);
  const meant = task === null ? open : open.filter((question) => question.task === task);
  const [only] = meant;
  if (only === undefined) throw nothingOpen(task, state, open);
  if (meant.length > 1)
    throw new RalphError("usage", `${meant.length} tasks ask; say which one you answer${listed(meant)}`, {
      hint: howTo(only),
    });
  return only;
}

function nothingOpen(task: string | null, state: State, open: readonly OpenQuestion[]): RalphError {
  const answer = task === null ? null : (state.tasks[task]?.question?.answer ?? null);
  const said = answer === null ? "" : ` any more: it has its answer, "${answer}"`;
  const message = task === null ? "no task asks a question" : `${task} asks no question${said}`;
  return new RalphError("usage", `${message}${open.length === 0 ? "" : `; these do${listed(open)}`}`, {
    hint: "what waits for you: ralph inbox",
  });
}

/** False when somebody else did something about the task in between: look again. */
async function recordAnswer(
  project: Project,
  state: State,
  { task }: OpenQuestion,
  answer: string,
): Promise<boolean> {
  const expected = { task: { id: task, position: state.tasks[task]?.position ?? 0 } };
  const answered = { type: "question.answered", task, answer, by: "person" } as const;
  return (await withLog(project, (log) => log.append([answered], expected))) !== null;
}

function tell(
  { task, text, options, acceptance }: OpenQuestion,
  answer: string,
  { stderr }: CliContext,
): void {
  // Beside "accept", any words reject a claim, and are told to the agent.
  if (options.length > 0 && !options.includes(answer) && acceptance === null)
    stderr.write(
      `ralph: note: "${answer}" is none of the options (${options.join(", ")}); it is taken as it is\n`,
    );
  stderr.write(`ralph: ${task} asked: ${text}\nralph: answered: ${answer}\n`);
}

async function nextStep(project: Project, state: State, task: string, answer: string): Promise<string> {
  // It asked with the last iteration that it had.
  if (state.tasks[task]?.blockedReason != null)
    return `it is blocked as well: ralph unblock ${asArgument(task)}`;
  const next = await whoGoesOn(project, state, task);
  const completes = state.tasks[task]?.question?.acceptance?.is === "completion" && isAcceptance(answer);
  return completes ? `${next} (no agent is asked again about ${task})` : next;
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

function howTo(question: OpenQuestion | undefined): string {
  const { task = "TASK", options = [] } = question ?? {};
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
    .option("--timeout <duration>", "of its iterations from now on, exactly: 1800, 40m, 2h", duration)
    .option("--timeout-multiplier <factor>", "so many times its last timeout", factor)
    .option("--reason <text>", "what has changed; it is kept")
    .action((task: string | undefined, reason: string | undefined, flags: UnblockFlags) =>
      act((context) => unblock(task, { ...(reason !== undefined && { reason }), ...flags }, context)),
    );
}

async function unblock(task: string | undefined, flags: UnblockFlags, context: CliContext): Promise<number> {
  refuseContradictions(task, flags);
  const project = await openProject(context);
  requirePerson(project, context.env, "unblock tasks");
  const state = await readState(project);
  const blocked = await blockedNow(project, state);
  const meant = task === undefined ? chosen(blocked, flags) : [await named(task, blocked, state, project)];
  const { stderr } = context;
  if (meant.length === 0) stderr.write(`ralph: ${nothing(blocked, flags)}\n`);
  const recorded = await recordUnblocked(project, meant, flags);
  const held = recorded.filter(({ id }) => isMergeHeld(taskState(state, id))).map(({ id }) => id);
  const freed = recorded.filter(({ id }) => !held.includes(id));
  for (const { id, timeoutMs } of freed)
    stderr.write(
      `ralph: ${id} is no longer blocked${timeoutMs === null ? "" : `; ${formatDuration(timeoutMs)} each from now on`}\n`,
    );
  if (freed.length > 0) await refreshStatus(project);
  const after = await readState(project);
  const next = new Set(await Promise.all(freed.map(({ id }) => whoGoesOn(project, after, id))));
  for (const step of next) stderr.write(`  → ${step}\n`);
  return held.length === 0 ? 0 : mergeAgain(project, held, context);
}

/** Tells a run that is on, or makes one for nothing else, and says what came of it. */
async function mergeAgain(project: Project, held: readonly TaskId[], context: CliContext): Promise<number> {
  const { stderr } = context;
  if (project.queue !== null || (await isDriven(project))) {
    for (const id of held) stderr.write(`ralph: the merge of ${id} is tried again by the run that is on\n`);
    return 0;
  }
  const { runJust } = await import("./run.ts");
  const before = await readState(project);
  await runJust(held, before, context);
  const after = await readState(project);
  for (const id of held) {
    const { merge } = taskState(after, id);
    const base = taskState(before, id).worktree?.base ?? "its base";
    const why = whyBlocked(taskState(after, id));
    if (why !== null) stderr.write(`ralph: ${id} still waits: ${why}\n`);
    else if (merge?.is === "merged") stderr.write(`ralph: ${id} is merged into ${base}\n`);
    else stderr.write(`ralph: ${id} is not merged yet\n  → ralph why ${asArgument(id)}\n`);
  }
  return held.some((id) => whyBlocked(taskState(after, id)) !== null) ? EXIT_CODES.blocked : 0;
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

function chosen(blocked: readonly BlockedTask[], { filter }: UnblockFlags): readonly BlockedTask[] {
  return filter === undefined ? blocked : blocked.filter((task) => isMeantBy(filter, task));
}

async function named(
  id: string,
  blocked: readonly BlockedTask[],
  state: State,
  project: Project,
): Promise<BlockedTask> {
  const found = blocked.find((task) => task.id === id);
  if (found !== undefined) return found;
  const planned = state.plan?.tasks.find((task) => task.id === id);
  if (planned === undefined && state.tasks[id] === undefined) throw await unknownTask(id, state, project);
  const status = planned === undefined ? "not in the task list" : statusOf(state, planned);
  throw new RalphError("usage", `${id} is not blocked: it is ${status}`, {
    hint:
      status === "undecided"
        ? `it waits for an answer: ralph decide ${asArgument(id)} "…"`
        : `ralph why ${asArgument(id)}`,
  });
}

function nothing(blocked: readonly BlockedTask[], { filter }: UnblockFlags): string {
  if (blocked.length === 0 || filter === undefined) return "no task is blocked";
  const all = blocked.map(({ id, complexity }) => `${id} (${complexity ?? "unknown"})`).join(", ");
  return `no blocked task is "${filter}" or has it in its reason; blocked are ${all}`;
}

interface Freed {
  readonly id: string;
  readonly timeoutMs: number | null;
}

/** Those that somebody else unblocked in between are left out. */
async function recordUnblocked(
  project: Project,
  tasks: readonly BlockedTask[],
  flags: UnblockFlags,
): Promise<readonly Freed[]> {
  const reason = flags.reason?.trim() || "no reason given";
  const freed: Freed[] = [];
  for (const task of tasks) {
    const timeoutMs = timeoutOf(task, flags);
    const event = { type: "task.unblocked", task: task.id, reason, timeoutMs, by: "person" } as const;
    if (await recordIfBlocked(project, event)) freed.push({ id: task.id, timeoutMs });
  }
  return freed;
}

/** A run may be about to write the letter: what comes between is looked at, and then it is tried again. */
async function recordIfBlocked(project: Project, event: EventOf<"task.unblocked">): Promise<boolean> {
  for (;;) {
    const known = (await readState(project)).tasks[event.task];
    if (known === undefined || whyBlocked(known) === null) return false;
    const expected = { task: { id: event.task, position: known.position } };
    if ((await withLog(project, (log) => log.append([event], expected))) !== null) return true;
  }
}

function timeoutOf({ lastTimeoutMs }: BlockedTask, flags: UnblockFlags): number | null {
  if (flags.timeout !== undefined) return flags.timeout;
  if (flags.timeoutMultiplier === undefined || lastTimeoutMs === null) return null;
  return Math.max(1_000, Math.round(lastTimeoutMs * flags.timeoutMultiplier));
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new RalphError("usage", `--timeout is "${text}"; expected seconds or a duration`, {
    hint: "for example: --timeout 1800, --timeout 40m, --timeout 1h30m",
  });
}

function factor(text: string): number {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text.trim()) && number > 0) return number;
  throw new RalphError("usage", `--timeout-multiplier is "${text}"; expected a number above 0`, {
    hint: "for example: --timeout-multiplier 3.0",
  });
}

/** Who takes up a task that waited for a person, or what to type. */
export async function whoGoesOn(project: Project, { run, tasks }: State, task: TaskId): Promise<string> {
  const runs = project.queue === null ? RUN : WORKERS;
  if (!isOpen(run)) return runs.begin;
  if (!(await isDriven(project))) return runs.goOn;
  const only = run.settings.onlyTasks;
  const isLeftAlone =
    run.stop !== null || (only !== null && !only.includes(task)) || tasks[task]?.exhaustedIn === run.id;
  return isLeftAlone ? runs.leavesIt : runs.takesIt;
}

const RUN = {
  begin: "go on: ralph run",
  goOn: "go on: ralph run",
  takesIt: "the run that is on takes it up",
  leavesIt: "the run that is on does not take it up; after it: ralph run",
};

const WORKERS = {
  begin: "put it into the queue again: ralph submit",
  goOn: "no worker is here; start one: ralph worker",
  takesIt: "a worker takes it up",
  leavesIt: "the run that is on does not take it up; after it: ralph submit",
};
