import { changesInWords } from "../plan-checks.ts";
import { commitOf, type IterationRecord } from "./iteration-record.ts";
import { choiceInWords, openQuestions } from "./inbox.ts";
import { asArgument, asWords, few, type Style } from "../text.ts";
import { ALL_DONE, isBlockedOutside } from "../loop/outcome.ts";
import type { EventOf, EventType, Outcome, Recorded } from "../events.ts";
import { dollars } from "../loop/brakes.ts";
import { taskState, type State } from "../state.ts";
import { statusOf, tasksInScope, whyBlocked } from "../loop/task-status.ts";
import { count, readingInWords, shortCommit, spentInWords, workInWords } from "./explain-words.ts";
import { TASK_SIGNS, VERDICT_SIGNS } from "./signs.ts";
import { isFailing, redGates } from "../verdict/checked-gate.ts";
import { AUTO_APPROVED } from "../review/story-review.ts";
import { agentsInWords, BUILD, PERSON } from "../loop/stages.ts";
import { isoTime, formatDuration } from "../time.ts";

/** What a person is told about one fact: short, with the reason and the next step. */
export function eventLines(
  event: Recorded,
  state: State,
  record: IterationRecord | undefined,
  style: Style,
  prefix: string,
): readonly string[] {
  // The table has a teller for each type of event, which the compiler cannot see here.
  const tell = LINES[event.type] as Teller<EventType>;
  const lines = tell(event, { state, record, style });
  if (prefix === "") return lines;
  return lines.map((line) =>
    line.startsWith("  ")
      ? `  ${style.dim(prefix)}${line.trimStart()}`
      : line && `${style.dim(prefix)}${line}`,
  );
}

interface Context {
  readonly state: State;
  /** Of the iteration that the fact is about. */
  readonly record: IterationRecord | undefined;
  readonly style: Style;
}

type Teller<Type extends EventType> = (event: Recorded<EventOf<Type>>, context: Context) => readonly string[];

type Look = (text: string) => string;

/** "  ✔ accepted  5 files": a word with its sign, and what there is to say. */
function told(look: Look, word: string, text: string): string {
  return `  ${look(word)}${" ".repeat(Math.max(1, 12 - word.length))}${text}`;
}

/** Below such a word: what follows from it. */
function then({ style }: Context, text: string): string {
  return style.dim(`              → ${text}`);
}

function warning({ style }: Context, text: string): string {
  return style.ask(`  ! ${text}`);
}

const nothing = (): readonly string[] => [];

type Work = EventOf<"work.left" | "work.stayed" | "work.returned" | "work.refused" | "work.discarded">;

function work(event: Work, context: Context): readonly string[] {
  const words = workInWords(event);
  if (words === null) return [];
  const isFine = event.type === "work.left" || event.type === "work.returned";
  const line = `${event.task}: ${words}`;
  return [isFine ? context.style.dim(`  · ${line}`) : warning(context, line)];
}

/** The compiler lists a new type of event here: it has lines, or nothing is said of it. */
const LINES: { readonly [Type in EventType]: Teller<Type> } = {
  "run.started": nothing,
  "run.resumed": (_, { state, style }) => [
    style.dim("going on with the run that was interrupted"),
    ...headline(state, style),
  ],
  "tasks.observed": (_, { state, style }) => headline(state, style),
  "stop.requested": ({ urgency }, { style }) => [
    style.dim(urgency === "now" ? "stopping: the agent is asked to end" : "stopping after this iteration"),
  ],
  "run.paused": (_, { style }) => [style.ask("paused: no iteration begins until ralph resume")],
  "run.unpaused": (_, { style }) => [style.dim("going on")],
  "run.ended": endLines,

  "baseline.measured": ({ task, gates }, { style }) => {
    const red = gates.filter(({ status }) => isFailing(status)).map(({ name }) => name);
    return red.length === 0
      ? []
      : ["", style.ask(`! ${task}: red before anything is done: ${red.join(", ")}`)];
  },
  "iteration.started": (event, { state, style }) => ["", startLine(event, state, style)],
  "halftime.passed": nothing,
  "iteration.ended": nothing,
  "evidence.collected": nothing,
  "gates.checked": nothing,
  "old-checks.ran": ({ oldChecks, durationMs }, { style }) => {
    const red = redGates(oldChecks.gates).map(({ name }) => name);
    const how = red.length === 0 ? "pass" : `fail: ${red.join(", ")}`;
    const files = few(oldChecks.files, 3);
    return [style.dim(`  · old checks ${how} (${formatDuration(durationMs)}; as before the task: ${files})`)];
  },
  "reader.asked": nothing,
  "reader.answered": ({ reading }, context) => {
    const { review, durationMs, usage } = reading;
    const cost = usage.costUsd === null ? "" : ` · ${dollars(usage.costUsd)}`;
    const says = readingInWords(reading).replace(/\.$/, "");
    return review === null
      ? [warning(context, says)]
      : [context.style.dim(`  · second reader ${says} (${formatDuration(durationMs)}${cost})`)];
  },
  "verdict.reached": (event, context) => [...verdictLines(event, context), ...deniedLines(context)],
  "intervention.chosen": interventionLines,
  "agent.suspended": ({ agent, why, successor }, context) => [
    told(context.style.bad, "■ suspended", `${agent}: ${why}`),
    ...(successor === null ? [] : [then(context, `${successor} takes over`)]),
  ],

  "stage.passed": ({ task, next }, { style }) => [`  ${style.good("→")} ${task} goes on to the ${next}`],
  "stage.objected": ({ task, to, stage, findings }, { style }) => [
    stage === PERSON
      ? `  ${style.ask("←")} ${task} is sent back: ${findings}`
      : `  ${style.ask("←")} ${task} goes back to the ${to}, with what the ${stage} found`,
  ],
  "story.settled": storyLines,
  // Said where no verdict says it: a person accepted the claim.
  "task.completed": ({ task, iteration, certificate }, { style }) =>
    (certificate.person ?? null) === null
      ? []
      : [told(style.good, "✔ accepted", `${task}: by a person (iteration ${iteration})`)],
  "task.marked": nothing,
  "task.blocked": ({ task, reason }, { style }) => [told(style.bad, "■ blocked", `${task}: ${reason}`)],
  "task.failed": nothing,
  "task.exhausted": ({ task, iterations }, { style }) => [
    told(style.bad, "■ given up", `${task} for this run: ${iterations} iterations are used up`),
  ],
  "task.cancelled": ({ task }, { style }) => [told(style.bad, "■ cancelled", task)],
  "task.skipped": ({ task }, { style }) => [style.dim(`  – ${task} is skipped`)],
  "task.unskipped": ({ task }, { style }) => [style.dim(`  · ${task} is no longer skipped`)],
  "task.undone": nothing,
  "task.reset": nothing,

  "question.asked": ({ task, options, acceptance }, context) => {
    const { state } = context;
    if (state.run?.settings.keepGoing !== true && acceptance === undefined) return [];
    const meanwhile = hasOthers(state, task) ? "      the others go on meanwhile" : "";
    if (acceptance?.isApproval === true)
      return [
        told(context.style.ask, `${TASK_SIGNS.review.sign} waits for your approval`, task),
        then(
          context,
          `look: ralph diff ${asArgument(task)}, then ralph approve ${asArgument(task)}${meanwhile}`,
        ),
      ];
    return [then(context, `ralph decide ${asArgument(task)} ${asWords(options[0] ?? "…")}${meanwhile}`)];
  },
  "question.answered": ({ task, answer, by }, { style }) => {
    const why = by === "deadline" ? " (the default: nobody answered in time)" : "";
    return [told(style.good, "✔ answered", `${task}: ${answer}${why}`)];
  },
  "task.unblocked": ({ task, reason }, { style }) => [told(style.good, "✔ unblocked", `${task}: ${reason}`)],
  "letter.published": nothing,
  "letter.disturbed": (event, context) => [
    warning(
      context,
      `${event.file} changed while the agent ran: that is no answer. Save it again while none runs, or type: ${instead(event, context.state)}`,
    ),
  ],
  "letter.withdrawn": nothing,
  "steer.given": ({ task, text }, { style }) => [
    told(style.ask, "✎ message", `for ${task ?? "whatever comes next"}: ${text}`),
  ],
  "steer.used": ({ iteration, how }, context) => [
    then(
      context,
      `iteration ${iteration} ${how === "message" ? "was told" : "had a message of yours in its prompt"}`,
    ),
  ],
  "steer.deferred": (_, context) => [then(context, "its agent takes no messages: the next prompt has it")],
  "proposal.settled": nothing,
  "lesson.removed": nothing,
  "interventions.reset": nothing,

  "wait.started": ({ until, why }, { style }) => [
    `  ${style.dim(`… waiting${until === null ? "" : ` until ${isoTime(until)}`}: ${why}`)}`,
  ],
  "retry.requested": (_, { style }) => [style.dim("  … trying again at once")],
  "calls.exhausted": nothing,
  "calls.reset": nothing,
  "budget.neared": (event, context) => [warning(context, spentInWords(event))],
  "budget.reached": nothing,
  "breaker.moved": ({ to, reason }, { style }) => {
    if (to === "CLOSED") return [told(style.good, "✔ breaker", `closed: ${reason}`)];
    return to === "OPEN"
      ? [told(style.bad, "■ breaker", `open: ${reason}`)]
      : [told(style.ask, "! breaker", `half open: ${reason}; without progress now it opens again`)];
  },

  "work.leaving": nothing,
  "work.left": work,
  "work.stayed": work,
  "work.returning": nothing,
  "work.returned": work,
  "work.refused": work,
  "work.discarded": work,
  "worktree.opened": nothing,
  "worktree.failed": ({ task, why }, { style }) => [
    told(style.bad, "■ blocked", `${task}: its worktree could not be set up: ${why}`),
  ],
  "worktree.removed": nothing,
  "checkout.changed": ({ task, beside, head, paths }, context) => {
    const moved = head === null ? [] : [`HEAD is at ${shortCommit(head)} now`];
    const what = [...moved, ...(paths.length === 0 ? [] : [few(paths)])].join(", ");
    const who = few([task, ...beside]);
    const doubt = "If that was not you, an agent has left its worktree";
    return [warning(context, `your checkout changed while ${who} ran: ${what}. ${doubt}`)];
  },
  "merge.prepared": nothing,
  "merge.overtaken": nothing,
  "merge.failed": ({ task, base, conflicts, gates }, { style }) => {
    const red = redGates(gates).map(({ name }) => name);
    const why =
      conflicts.length > 0
        ? `it does not merge into ${base}: conflicts in ${few(conflicts)}`
        : `merged into ${base} it does not pass: ${few(red)}`;
    return [told(style.ask, "← back", `${task}: ${why}`)];
  },
  "merge.held": ({ task, why }, { style }) => [told(style.ask, "! waits", `${task}: ${why}`)],
  "task.proposed": ({ task, url, leftOut }, context) => [
    told(context.style.good, "⇒ proposed", `${task}: ${url}`),
    ...(leftOut === undefined ? [] : [warning(context, leftOut)]),
  ],
  "task.merged": ({ task, to, leftOut }, context) => [
    told(
      context.style.good,
      "⇒ merged",
      `${task} into ${taskState(context.state, task).worktree?.base ?? "the base"}, ${shortCommit(to)}`,
    ),
    ...(leftOut === undefined ? [] : [warning(context, leftOut)]),
  ],

  "task.taken": ({ task, worker, from }, { style }) => {
    // Who takes up what nobody had is no news.
    if (from === null) return [];
    const who = from === worker ? `${worker} is back` : `${from} vanished, ${worker} goes on`;
    return [told(style.ask, "↷ taken", `${task}: ${who}`)];
  },
  "task.dropped": ({ task, worker, why }, { style }) => [
    told(style.ask, "↷ dropped", `${task}: ${worker} could not go on: ${why}`),
  ],
  "log.renewed": nothing,
};

function startLine(event: EventOf<"iteration.started">, state: State, style: Style): string {
  const title = state.plan?.tasks.find((task) => task.id === event.task)?.title ?? "";
  const who = event.stage === BUILD.name ? "" : `${event.stage}: ${event.agent} · `;
  const number = `${who}iteration ${event.iteration} (${event.ordinal}/${event.maxIterations})`;
  return `${style.bold(`▸ ${event.task}`)}  ${title}  ${style.dim(`${event.complexity} · ${formatDuration(event.timeoutMs)} each · ${number}`)}`;
}

function verdictLines(event: EventOf<"verdict.reached">, context: Context): readonly string[] {
  const { style, record } = context;
  const { verdict } = event;
  const sentences = event.reasons.map((reason) => reason.sentence);
  const why = sentences.join("; ");
  const { sign, look } = VERDICT_SIGNS[verdict];
  const line = (text: string): string => told(style[look], `${sign} ${verdict}`, text);
  switch (verdict) {
    case "accepted": {
      const [evidence = "", ...remarks] = sentences;
      return [
        line([facts(record), evidence].filter(Boolean).join(" · ")),
        ...remarks.map((remark) => style.dim(`              · ${remark}`)),
      ];
    }
    case "continue":
      return [line([facts(record), why].filter(Boolean).join(" · "))];
    case "challenged":
      return [
        line(`claims done, but ${why}`),
        then(context, "the next prompt asks the agent to fix or to answer it"),
      ];
    case "rejected":
      return [line(`claims done, but ${why}`), then(context, "the next prompt says so")];
    case "failed":
      return [line(why)];
    case "decide":
      return [line(record?.report?.claim.is === "undecided" ? `"${why}"${choice(record)}` : why)];
    case "blocked":
      return [];
  }
}

function deniedLines(context: Context): readonly string[] {
  const { denied = [], failure } = context.record?.report ?? { failure: null };
  if (denied.length === 0) return [];
  const next = then(context, "allow it in the agent's own settings, or change permission_mode");
  const isSaid = failure?.message.startsWith("not permitted") === true;
  return isSaid ? [next] : [warning(context, `not permitted: ${few(denied, 5)}`), next];
}

/** Most of them are told with the verdict. */
function interventionLines(event: EventOf<"intervention.chosen">, context: Context): readonly string[] {
  if (["too-big", "looks-secret", "commit-hook"].includes(event.rule))
    return [then(context, event.feedback.text)];
  if (event.rule === "task-list") {
    const proposal = context.state.proposals.find(({ number }) => number === event.iteration);
    const did = changesInWords(proposal?.changes ?? []);
    const how = `to take it over: ralph tasks accept ${event.iteration}`;
    return [warning(context, `the agent edited the task list (${did}), which was undone; ${how}`)];
  }
  if (event.rule === "story-review") return [];
  if (event.intervention === "illegal_transition")
    return [warning(context, "the agent marked tasks as done itself; the marks were taken back")];
  if (event.intervention !== "mid_stream_prompt_injected") return [];
  const how = event.isFedBack ? "could not be told" : "was told";
  return [warning(context, `half of the time is over and nothing is written: the agent ${how}`)];
}

function storyLines(event: EventOf<"story.settled">, context: Context): readonly string[] {
  const { task, from, to, edits } = event;
  const { style } = context;
  if (from === to) return [`  ${style.dim("↺")} ${task}: what the agent did to the stories is undone`];
  if (to === "needs_review") return [`  ${style.good("→")} ${task} goes to review`];
  if (to === "changes_requested")
    return [`  ${style.ask("←")} ${task} goes back: the review asks for changes`];
  const isForced = edits.some(({ value }) => String(value).includes(AUTO_APPROVED));
  return isForced
    ? [warning(context, `${task} is approved because it has been reviewed as often as it may be`)]
    : [];
}

/** Why it ended and what to do next; a run that is complete needs no words. */
function endLines(event: EventOf<"run.ended">, { state, style }: Context): readonly string[] {
  const next: Readonly<Record<Outcome, string | null>> = {
    completed: null,
    undecided: `${howToAnswer(state)}, then: ralph run`,
    blocked: `${isBlockedOutside(state) ? "" : "see what would help: ralph blocked --suggest; "}settle it, then: ${unblockFirst(state)}ralph run`,
    exhausted: "see why: ralph why; go on: ralph run",
    stuck: `see why: ralph why; what it was doing: ralph logs${afterStuck(state)}`,
    limited: `${Object.keys(state.run?.lockedOut ?? {}).length > 0 ? "then" : "go on later"}: ralph run`,
    misconfigured: "see what is missing: ralph doctor",
    stopped: "go on: ralph run",
  };
  const isShared = state.run?.settings.shared === true;
  const todo = next[event.outcome]?.replaceAll("ralph run", isShared ? "ralph submit" : "ralph run") ?? null;
  if (event.outcome === "completed" && event.reason === ALL_DONE) return [];
  return ["", `${style.bold(event.outcome)}: ${event.reason}`, ...(todo === null ? [] : [`  → ${todo}`])];
}

/** No run takes up a blocked task by itself. */
function unblockFirst({ tasks }: State): string {
  const ids = Object.values(tasks).flatMap((task) => (whyBlocked(task) === null ? [] : [task.id]));
  const [first = ""] = ids;
  if (ids.length === 0) return "";
  return `ralph unblock ${ids.length === 1 ? asArgument(first) : "TASK"}, `;
}

/** A run does not start on an open breaker by itself. */
function afterStuck(state: State): string {
  if (state.breaker.position !== "OPEN") return `; then: ${unblockFirst(state)}ralph run`;
  return "; change something (a commit, the tasks, the configuration, ralph steer), or let it try as it is: ralph reset --circuit; then: ralph run";
}

/** By command, or in the file; with several questions the inbox lists them. */
function howToAnswer(state: State): string {
  const [asked, ...others] = openQuestions(state);
  if (asked === undefined || others.length > 0) return "see the questions: ralph inbox; answer them";
  const letter = state.tasks[asked.task]?.inboxFile ?? null;
  const file = letter?.kind === "decide" ? `, or write the answer into .ralph/${letter.file}` : "";
  const answer = asked.acceptance === null ? "…" : "accept";
  return `ralph decide ${asArgument(asked.task)} "${answer}"${file}`;
}

/** Which source, how much is to do, who does it, and what will be checked. */
function headline(state: State, style: Style): readonly string[] {
  const { run, plan } = state;
  if (run === null || plan === null) return [];
  const tasks = tasksInScope(run, plan);
  const done = tasks.filter((task) => statusOf(state, task) === "done").length;
  const gates = run.settings.gates.map((gate) =>
    gate.name === gate.command ? gate.name : `${gate.name} (${gate.command})`,
  );
  const { sandbox } = run.settings;
  const inside = sandbox === undefined ? "" : ` in ${sandbox.kind}`;
  const { run: budgetUsd } = run.settings.limits.budget;
  const budget = budgetUsd === null ? "" : ` · budget ${dollars(budgetUsd)}`;
  const counts = `${count(tasks.length, "task")}${done > 0 ? `, ${done} done` : ""}`;
  return [
    `${style.bold("ralph run")} · ${plan.source.label} · ${counts} · ${agentsInWords(run.settings)}${inside}${budget}`,
    style.dim(`  gates: ${gates.length === 0 ? "none (only git is checked)" : gates.join(", ")}`),
  ];
}

function facts(record: IterationRecord | undefined): string {
  if (record?.evidence == null) return "";
  const { evidence, report } = record;
  const files = count(evidence.changed.files, "file");
  const commit = commitOf(record);
  return `${files}${commit === null ? "" : `, commit ${shortCommit(commit)}`}${report === null ? "" : ` · ${formatDuration(report.durationMs)}`}`;
}

function choice(record: IterationRecord | undefined): string {
  const claim = record?.report?.claim;
  if (claim?.is !== "undecided") return "";
  const { options, default: answer = null, deadlineMs: deadlineAt = null } = claim;
  const words = choiceInWords({ options, default: answer, deadlineAt }, 0);
  return words === "" ? "" : `  ${words}`;
}

function hasOthers(state: State, asking: string): boolean {
  if (state.run === null || state.plan === null) return false;
  const others = tasksInScope(state.run, state.plan).filter(({ id }) => id !== asking);
  return others.some((task) => statusOf(state, task) === "todo");
}

/** The command that says the same as the letter. */
function instead({ task }: EventOf<"letter.disturbed">, state: State): string {
  const isBlocked = state.tasks[task]?.blockedReason != null;
  return isBlocked ? `ralph unblock ${asArgument(task)}` : `ralph decide ${asArgument(task)} "…"`;
}
