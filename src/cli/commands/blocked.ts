import { type Project, isDriven, openProject, requirePerson } from "../../app/project.ts";
import { blockedNow, readState, unknownTask } from "../../app/project-log.ts";
import type { Command } from "commander";
import { act as actOn, mustAct } from "../../app/operator.ts";
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
import type { Act, CliContext } from "../commands.ts";
import { columns, shortened, styleFor } from "../print/style.ts";
import { duration } from "../run-options.ts";

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
  const { stdout, say } = context;
  if (flags.json === true) {
    stdout.write(`${JSON.stringify(tasks.map(blockedEntry), null, 2)}\n`);
    return 0;
  }
  if (tasks.length === 0) stdout.write("No task is blocked. Where all of them stand: ralph status\n");
  const lines = flags.suggest === true ? suggestionLines(tasks) : columns(tasks.map(cells));
  for (const line of lines) stdout.write(`${line}\n`);
  if (tasks.length > 0 && flags.suggest !== true) say("what would help: ralph blocked --suggest");
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
  requirePerson(project, "answer questions");
  const state = await readState(project);
  const { task, answer } = wordsAsAnswer(words, state);
  if (state.tasks[task] === undefined) throw await unknownTask(task, state, project);
  await mustAct(project, { do: "decide", task, answer });
  const question = openQuestions(state).find((one) => one.task === task);
  // Beside "accept", any words reject a claim, and are told to the agent.
  if (question !== undefined && question.acceptance === null && isOther(answer, question))
    context.say(
      `note: "${answer}" is none of the options (${question.options.join(", ")}); it is taken as it is`,
    );
  context.say(`${task} asked: ${question?.text ?? ""}`);
  context.say(`answered: ${answer}`);
  context.stderr.write(`  → ${await nextStep(project, state, task, answer)}\n`);
  return 0;
}

function isOther(answer: string, { options }: OpenQuestion): boolean {
  return options.length > 0 && !options.includes(answer);
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
  if (answer === "" && open.length > 0)
    throw new RalphError("usage", `say the answer${listed(open)}`, {
      hint: howTo(open.find(({ task }) => task === first) ?? open[0]),
    });
  if (second !== undefined) return { task: first, answer };
  const [only] = open;
  if (only === undefined)
    throw new RalphError("usage", "no task asks a question", { hint: "what waits for you: ralph inbox" });
  if (open.length > 1)
    throw new RalphError("usage", `${open.length} tasks ask; say which one you answer${listed(open)}`, {
      hint: howTo(only),
    });
  return { task: only.task, answer };
}

async function nextStep(project: Project, state: State, task: string, answer: string): Promise<string> {
  // It asked with the last iteration that it had.
  if (state.tasks[task]?.blockedReason != null)
    return `it is blocked as well: ralph unblock ${asArgument(task)}`;
  const next = await whatGoesOn(project, state, task);
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
    .option(
      "--timeout <duration>",
      "of its iterations from now on, exactly: 1800, 40m, 2h",
      duration("--timeout"),
    )
    .option("--timeout-multiplier <factor>", "so many times its last timeout", factor)
    .option("--reason <text>", "what has changed; it is kept")
    .action((task: string | undefined, reason: string | undefined, flags: UnblockFlags) =>
      act((context) => unblock(task, { ...(reason !== undefined && { reason }), ...flags }, context)),
    );
}

async function unblock(task: string | undefined, flags: UnblockFlags, context: CliContext): Promise<number> {
  refuseContradictions(task, flags);
  const project = await openProject(context);
  requirePerson(project, "unblock tasks");
  const before = await readState(project);
  const blocked = await blockedNow(project, before);
  if (
    task !== undefined &&
    !before.plan?.tasks.some(({ id }) => id === task) &&
    before.tasks[task] === undefined
  )
    throw await unknownTask(task, before, project);
  const meant = task === undefined ? chosen(blocked, flags) : [task];
  if (meant.length === 0) context.say(nothing(blocked, flags));
  const held = meant.filter((id) => isMergeHeld(taskState(before, id)));
  const freed: TaskId[] = [];
  for (const id of meant) {
    const timeoutMs = timeoutOf(
      blocked.find((one) => one.id === id),
      flags,
    );
    const wanted = { do: "unblock", task: id, reason: flags.reason ?? "", timeoutMs, runs: true } as const;
    // Of several, those that somebody else unblocked in between are left out.
    const acted = task === undefined ? await actOn(project, wanted) : null;
    if (acted?.is === "refused") continue;
    const said = acted?.said ?? (await mustAct(project, wanted));
    if (held.includes(id)) continue;
    freed.push(id);
    context.say(said);
  }
  await tellWhatGoesOn(project, freed, context);
  return held.length === 0 ? 0 : mergeAgain(project, held, context);
}

/** What happens next to tasks that are no longer blocked; the same step is named once. */
export async function tellWhatGoesOn(
  project: Project,
  tasks: readonly TaskId[],
  { stderr }: CliContext,
): Promise<void> {
  const state = await readState(project);
  const next = new Set(await Promise.all(tasks.map((id) => whatGoesOn(project, state, id))));
  for (const step of next) stderr.write(`  → ${step}\n`);
}

/** Tells a run that is on, or makes one for nothing else, and says what came of it. */
async function mergeAgain(project: Project, held: readonly TaskId[], context: CliContext): Promise<number> {
  const { say } = context;
  if (project.queue !== null || (await isDriven(project))) {
    for (const id of held) say(`the merge of ${id} is tried again by the run that is on`);
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
    if (why !== null) say(`${id} still waits: ${why}`);
    else if (merge?.is === "merged") say(`${id} is merged into ${base}`);
    else say(`${id} is not merged yet\n  → ralph why ${asArgument(id)}`);
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

function chosen(blocked: readonly BlockedTask[], { filter }: UnblockFlags): readonly TaskId[] {
  return blocked.filter((task) => filter === undefined || isMeantBy(filter, task)).map(({ id }) => id);
}

function nothing(blocked: readonly BlockedTask[], { filter }: UnblockFlags): string {
  if (blocked.length === 0 || filter === undefined) return "no task is blocked";
  const all = blocked.map(({ id, complexity }) => `${id} (${complexity ?? "unknown"})`).join(", ");
  return `no blocked task is "${filter}" or has it in its reason; blocked are ${all}`;
}

function timeoutOf(task: BlockedTask | undefined, flags: UnblockFlags): number | null {
  if (flags.timeout !== undefined) return flags.timeout;
  const last = task?.lastTimeoutMs ?? null;
  if (flags.timeoutMultiplier === undefined || last === null) return null;
  return Math.max(1_000, Math.round(last * flags.timeoutMultiplier));
}

function factor(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text.trim()) && Number(text) > 0) return Number(text);
  throw new RalphError("usage", `--timeout-multiplier is "${text}"; expected a number above 0`, {
    hint: "for example: --timeout-multiplier 3.0",
  });
}

/** Whether a run takes up a task that waited for a person, or what to type. */
export async function whatGoesOn(project: Project, { run, tasks }: State, task: TaskId): Promise<string> {
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
