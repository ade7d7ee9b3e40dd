import { changesInWords } from "../plan-checks.ts";
import { commitOf, type IterationRecord } from "./iteration-record.ts";
import { choiceInWords, openQuestions } from "./inbox.ts";
import { asArgument, asWords, few, type Style } from "../text.ts";
import { ALL_DONE, isBlockedOutside } from "../loop/outcome.ts";
import type { EventOf, EventType, Outcome, Recorded } from "../events.ts";
import { dollars } from "../loop/brakes.ts";
import { taskState, type State } from "../state.ts";
import { statusOf, whyBlocked } from "../loop/task-status.ts";
import { count, readingInWords, shortCommit, spentInWords, workInWords } from "./explain-words.ts";
import { TASK_SIGNS, VERDICT_SIGNS } from "./signs.ts";
import { scopeOf } from "./status.ts";
import type { Claim } from "../streams/agent-report.ts";
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
  const said = tell?.(event, { state, record, style, ...sayIn(style) }) ?? null;
  const lines = [said].flat().filter((line) => line !== null);
  if (prefix === "") return lines;
  return lines.map((line) =>
    line.startsWith("  ")
      ? `  ${style.dim(prefix)}${line.trimStart()}`
      : line && `${style.dim(prefix)}${line}`,
  );
}

interface Context extends ReturnType<typeof sayIn> {
  readonly state: State;
  /** Of the iteration that the fact is about. */
  readonly record: IterationRecord | undefined;
  readonly style: Style;
}

type Lines = string | null | readonly (string | null)[];

/** Null: nothing is said of it. */
type Teller<Type extends EventType> = ((event: Recorded<EventOf<Type>>, context: Context) => Lines) | null;

/** "  ✔ accepted  5 files": a word with its sign, and what there is to say. */
function told(look: (text: string) => string, word: string, text: string): string {
  return `  ${look(word)}${" ".repeat(Math.max(1, 12 - word.length))}${text}`;
}

function sayIn({ good, bad, ask, dim }: Style) {
  return {
    good: (word: string, text: string) => told(good, word, text),
    bad: (word: string, text: string) => told(bad, word, text),
    ask: (word: string, text: string) => told(ask, word, text),
    /** Below such a word: what follows from it. */
    follows: (text: string) => dim(`              → ${text}`),
    note: (text: string) => dim(`  · ${text}`),
    warn: (text: string) => ask(`  ! ${text}`),
  };
}

type Work = EventOf<"work.left" | "work.stayed" | "work.returned" | "work.refused" | "work.discarded">;

function work(event: Work, { note, warn }: Context): Lines {
  const words = workInWords(event);
  if (words === null) return null;
  const isFine = event.type === "work.left" || event.type === "work.returned";
  return (isFine ? note : warn)(`${event.task}: ${words}`);
}

/** The compiler lists a new type of event here: it has lines, or nothing is said of it. */
const LINES: { readonly [Type in EventType]: Teller<Type> } = {
  "run.started": null,
  "run.resumed": (_, { state, style }) => [
    style.dim("going on with the run that was interrupted"),
    ...headline(state, style),
  ],
  "tasks.observed": (_, { state, style }) => headline(state, style),
  "stop.requested": ({ urgency }, { style }) =>
    style.dim(urgency === "now" ? "stopping: the agent is asked to end" : "stopping after this iteration"),
  "run.paused": (_, { style }) => style.ask("paused: no iteration begins until ralph resume"),
  "run.unpaused": (_, { style }) => style.dim("going on"),
  "run.ended": endLines,

  "baseline.measured": ({ task, gates }, { style }) => {
    const red = gates.filter(({ status }) => isFailing(status)).map(({ name }) => name);
    const says = `! ${task}: red before anything is done: ${red.join(", ")}`;
    return red.length === 0 ? null : ["", style.ask(says)];
  },
  "iteration.started": (event, { state, style }) => ["", startLine(event, state, style)],
  "halftime.passed": null,
  "iteration.ended": null,
  "evidence.collected": null,
  "gates.checked": null,
  "old-checks.ran": ({ oldChecks, durationMs }, { note }) => {
    const red = redGates(oldChecks.gates).map(({ name }) => name);
    const how = red.length === 0 ? "pass" : `fail: ${red.join(", ")}`;
    const files = few(oldChecks.files, 3);
    return note(`old checks ${how} (${formatDuration(durationMs)}; as before the task: ${files})`);
  },
  "reader.asked": null,
  "reader.answered": ({ reading }, { note, warn }) => {
    const { review, durationMs, usage } = reading;
    const cost = usage.costUsd === null ? "" : ` · ${dollars(usage.costUsd)}`;
    const says = readingInWords(reading).replace(/\.$/, "");
    return review === null
      ? warn(says)
      : note(`second reader ${says} (${formatDuration(durationMs)}${cost})`);
  },
  "verdict.reached": (event, context) => [...verdictLines(event, context), ...deniedLines(context)],
  "intervention.chosen": interventionLines,
  "agent.suspended": ({ agent, why, successor }, { bad, follows }) => [
    bad("■ suspended", `${agent}: ${why}`),
    successor === null ? null : follows(`${successor} takes over`),
  ],

  "stage.passed": ({ task, next }, { style }) => `  ${style.good("→")} ${task} goes on to the ${next}`,
  "stage.objected": ({ task, to, stage, findings }, { style }) =>
    stage === PERSON
      ? `  ${style.ask("←")} ${task} is sent back: ${findings}`
      : `  ${style.ask("←")} ${task} goes back to the ${to}, with what the ${stage} found`,
  "story.settled": storyLine,
  // Said where no verdict says it: a person accepted the claim.
  "task.completed": ({ task, iteration, certificate }, { good }) =>
    certificate.person == null ? null : good("✔ accepted", `${task}: by a person (iteration ${iteration})`),
  "task.marked": null,
  "task.blocked": ({ task, reason }, { bad }) => bad("■ blocked", `${task}: ${reason}`),
  "task.failed": null,
  "task.exhausted": ({ task, iterations }, { bad }) =>
    bad("■ given up", `${task} for this run: ${iterations} iterations are used up`),
  "task.cancelled": ({ task }, { bad }) => bad("■ cancelled", task),
  "task.skipped": ({ task }, { style }) => style.dim(`  – ${task} is skipped`),
  "task.unskipped": ({ task }, { note }) => note(`${task} is no longer skipped`),
  "task.undone": null,
  "task.reset": null,

  "question.asked": ({ task, options, acceptance }, { state, follows, ask }) => {
    if (state.run?.settings.keepGoing !== true && acceptance === undefined) return null;
    const others = scopeOf(state).tasks.filter(({ id }) => id !== task);
    const hasOthers = others.some((other) => statusOf(state, other) === "todo");
    const meanwhile = hasOthers ? "      the others go on meanwhile" : "";
    const id = asArgument(task);
    if (acceptance?.isApproval === true)
      return [
        ask(`${TASK_SIGNS.review.sign} waits for your approval`, task),
        follows(`look: ralph diff ${id}, then ralph approve ${id}${meanwhile}`),
      ];
    return follows(`ralph decide ${id} ${asWords(options[0] ?? "…")}${meanwhile}`);
  },
  "question.answered": ({ task, answer, by }, { good }) => {
    const why = by === "deadline" ? " (the default: nobody answered in time)" : "";
    return good("✔ answered", `${task}: ${answer}${why}`);
  },
  "task.unblocked": ({ task, reason }, { good }) => good("✔ unblocked", `${task}: ${reason}`),
  "letter.published": null,
  "letter.disturbed": ({ task, file }, { state, warn }) => {
    const isBlocked = state.tasks[task]?.blockedReason != null;
    const id = asArgument(task);
    const instead = isBlocked ? `ralph unblock ${id}` : `ralph decide ${id} "…"`;
    const why = "that is no answer. Save it again while none runs, or type";
    return warn(`${file} changed while the agent ran: ${why}: ${instead}`);
  },
  "letter.withdrawn": null,
  "steer.given": ({ task, text }, { ask }) =>
    ask("✎ message", `for ${task ?? "whatever comes next"}: ${text}`),
  "steer.used": ({ iteration, how }, { follows }) =>
    follows(
      `iteration ${iteration} ${how === "message" ? "was told" : "had a message of yours in its prompt"}`,
    ),
  "steer.deferred": (_, { follows }) => follows("its agent takes no messages: the next prompt has it"),
  "proposal.settled": null,
  "lesson.removed": null,
  "interventions.reset": null,

  "wait.started": ({ until, why }, { style }) =>
    `  ${style.dim(`… waiting${until === null ? "" : ` until ${isoTime(until)}`}: ${why}`)}`,
  "retry.requested": (_, { style }) => style.dim("  … trying again at once"),
  "calls.exhausted": null,
  "calls.reset": null,
  "budget.neared": (event, { warn }) => warn(spentInWords(event)),
  "budget.reached": null,
  "breaker.moved": ({ to, reason }, { good, bad, ask }) => {
    if (to === "CLOSED") return good("✔ breaker", `closed: ${reason}`);
    return to === "OPEN"
      ? bad("■ breaker", `open: ${reason}`)
      : ask("! breaker", `half open: ${reason}; without progress now it opens again`);
  },

  "work.leaving": null,
  "work.left": work,
  "work.stayed": work,
  "work.returning": null,
  "work.returned": work,
  "work.refused": work,
  "work.discarded": work,
  "worktree.opened": null,
  "worktree.failed": ({ task, why }, { bad }) =>
    bad("■ blocked", `${task}: its worktree could not be set up: ${why}`),
  "worktree.removed": null,
  "checkout.changed": ({ task, beside, head, paths }, { warn }) => {
    const moved = head === null ? [] : [`HEAD is at ${shortCommit(head)} now`];
    const what = [...moved, ...(paths.length === 0 ? [] : [few(paths)])].join(", ");
    const doubt = "If that was not you, an agent has left its worktree";
    return warn(`your checkout changed while ${few([task, ...beside])} ran: ${what}. ${doubt}`);
  },
  "merge.prepared": null,
  "merge.overtaken": null,
  "merge.failed": ({ task, base, conflicts, gates }, { ask }) => {
    const red = redGates(gates).map(({ name }) => name);
    const why =
      conflicts.length > 0
        ? `it does not merge into ${base}: conflicts in ${few(conflicts)}`
        : `merged into ${base} it does not pass: ${few(red)}`;
    return ask("← back", `${task}: ${why}`);
  },
  "merge.held": ({ task, why }, { ask }) => ask("! waits", `${task}: ${why}`),
  "task.proposed": ({ task, url, leftOut }, { good, warn }) => [
    good("⇒ proposed", `${task}: ${url}`),
    leftOut === undefined ? null : warn(leftOut),
  ],
  "task.merged": ({ task, to, leftOut }, { state, good, warn }) => {
    const base = taskState(state, task).worktree?.base ?? "the base";
    const merged = good("⇒ merged", `${task} into ${base}, ${shortCommit(to)}`);
    return [merged, leftOut === undefined ? null : warn(leftOut)];
  },

  "task.taken": ({ task, worker, from }, { ask }) => {
    // Who takes up what nobody had is no news.
    if (from === null) return null;
    const who = from === worker ? `${worker} is back` : `${from} vanished, ${worker} goes on`;
    return ask("↷ taken", `${task}: ${who}`);
  },
  "task.dropped": ({ task, worker, why }, { ask }) =>
    ask("↷ dropped", `${task}: ${worker} could not go on: ${why}`),
  "log.renewed": null,
};

function startLine(event: EventOf<"iteration.started">, state: State, style: Style): string {
  const title = state.plan?.tasks.find((task) => task.id === event.task)?.title ?? "";
  const who = event.stage === BUILD.name ? "" : `${event.stage}: ${event.agent} · `;
  const number = `${who}iteration ${event.iteration} (${event.ordinal}/${event.maxIterations})`;
  return `${style.bold(`▸ ${event.task}`)}  ${title}  ${style.dim(`${event.complexity} · ${formatDuration(event.timeoutMs)} each · ${number}`)}`;
}

function verdictLines(event: EventOf<"verdict.reached">, context: Context): readonly string[] {
  const { style, record, follows, state } = context;
  const { verdict, reasons } = event;
  const loops = state.plan?.tasks.find(({ id }) => id === event.task)?.loops !== false;
  const sentences = reasons.map((reason) => reason.sentence);
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
        follows("the next prompt asks the agent to fix or to answer it"),
      ];
    case "rejected":
      return [
        line(record?.report?.claim.is === "none" ? why : `claims done, but ${why}`),
        // A single attempt has no next one.
        ...(loops ? [follows("the next prompt says so")] : []),
      ];
    case "failed":
      return [line(why)];
    case "decide":
      return [
        line(record?.report?.claim.is === "undecided" ? `"${why}"${choice(record.report.claim)}` : why),
      ];
    case "blocked":
      return [];
  }
}

function deniedLines({ record, follows, warn }: Context): readonly string[] {
  const { denied = [], failure } = record?.report ?? { failure: null };
  if (denied.length === 0) return [];
  const next = follows("allow it in the agent's own settings, or change permission_mode");
  const isSaid = failure?.message.startsWith("not permitted") === true;
  return isSaid ? [next] : [warn(`not permitted: ${few(denied, 5)}`), next];
}

/** Most of them are told with the verdict. */
function interventionLines(event: EventOf<"intervention.chosen">, { state, follows, warn }: Context): Lines {
  const { rule, intervention, iteration } = event;
  if (["too-big", "looks-secret", "commit-hook"].includes(rule)) return follows(event.feedback.text);
  if (rule === "task-list") {
    const proposal = state.proposals.find(({ number }) => number === iteration);
    const did = changesInWords(proposal?.changes ?? []);
    const how = `to take it over: ralph tasks accept ${iteration}`;
    return warn(`the agent edited the task list (${did}), which was undone; ${how}`);
  }
  if (rule === "story-review") return null;
  if (intervention === "illegal_transition")
    return warn("the agent marked tasks as done itself; the marks were taken back");
  if (intervention !== "mid_stream_prompt_injected") return null;
  const how = event.isFedBack ? "could not be told" : "was told";
  return warn(`half of the time is over and nothing is written: the agent ${how}`);
}

function storyLine({ task, from, to, edits }: EventOf<"story.settled">, { style, warn }: Context): Lines {
  if (from === to) return `  ${style.dim("↺")} ${task}: what the agent did to the stories is undone`;
  if (to === "needs_review") return `  ${style.good("→")} ${task} goes to review`;
  if (to === "changes_requested") return `  ${style.ask("←")} ${task} goes back: the review asks for changes`;
  const isForced = edits.some(({ value }) => String(value).includes(AUTO_APPROVED));
  return isForced ? warn(`${task} is approved because it has been reviewed as often as it may be`) : null;
}

/** Why it ended and what to do next; a run that is complete needs no words. */
function endLines(event: EventOf<"run.ended">, { state, style }: Context): Lines {
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
  return ["", `${style.bold(event.outcome)}: ${event.reason}`, todo && `  → ${todo}`];
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
  const { tasks, done } = scopeOf(state);
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

function choice(claim: Extract<Claim, { is: "undecided" }>): string {
  const { options, default: answer = null, deadlineMs: deadlineAt = null } = claim;
  const words = choiceInWords({ options, default: answer, deadlineAt }, 0);
  return words === "" ? "" : `  ${words}`;
}
