import { changesInWords } from "../../core/plan/list-changes.ts";
import type { IterationRecord } from "../../core/projections/history.ts";
import { choiceInWords, openQuestions } from "../../core/projections/inbox.ts";
import { asArgument, asWords, few } from "../../core/text.ts";
import { ALL_DONE, isBlockedOutside } from "../../core/loop/outcome.ts";
import type { Style } from "./style.ts";
import type { EventOf, Outcome, Recorded } from "../../core/events.ts";
import { dollars } from "../../core/limits/budget.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import { statusOf, tasksInScope, whyBlocked } from "../../core/loop/task-status.ts";
import { readingInWords, workInWords } from "../../core/projections/explain-words.ts";
import { isFailing, redGates } from "../../core/report/checked-gate.ts";
import { AUTO_APPROVED } from "../../core/review/story-review.ts";
import { agentsInWords, BUILD } from "../../core/stages/stages.ts";
import { isoTime, formatDuration } from "../../core/time.ts";

/** What a person is told about one fact: short, with the reason and the next step. */
export function eventLines(
  event: Recorded,
  state: State,
  record: IterationRecord | undefined,
  style: Style,
  prefix: string,
): readonly string[] {
  const lines = linesOf(event, state, record, style);
  if (prefix === "") return lines;
  return lines.map((line) =>
    line.startsWith("  ")
      ? `  ${style.dim(prefix)}${line.trimStart()}`
      : line && `${style.dim(prefix)}${line}`,
  );
}

function linesOf(
  event: Recorded,
  state: State,
  record: IterationRecord | undefined,
  style: Style,
): readonly string[] {
  switch (event.type) {
    case "run.resumed":
      return [style.dim("going on with the run that was interrupted"), ...headline(state, style)];
    case "tasks.observed":
      return headline(state, style);
    case "iteration.started":
      return ["", startLine(event, state, style)];
    case "baseline.measured":
      return baselineLines(event, style);
    case "old-checks.ran":
      return oldCheckLines(event, style);
    case "reader.answered":
      return readerLines(event, style);
    case "verdict.reached":
      return [...verdictLines(event, record, style), ...deniedLines(record, style)];
    case "intervention.chosen":
      return interventionLines(event, state, style);
    case "agent.suspended":
      return [
        `  ${style.bad("■ suspended")} ${event.agent}: ${event.why}`,
        ...(event.successor === null ? [] : [style.dim(`              → ${event.successor} takes over`)]),
      ];
    case "stage.passed":
      return [`  ${style.good("→")} ${event.task} goes on to the ${event.next}`];
    case "stage.objected":
      return [
        `  ${style.ask("←")} ${event.task} goes back to the ${event.to}, with what the ${event.stage} found`,
      ];
    case "story.settled":
      return storyLines(event, style);
    case "task.taken":
    case "task.dropped":
      return fleetLines(event, style);
    case "worktree.failed":
    case "checkout.changed":
    case "merge.failed":
    case "merge.held":
    case "task.merged":
    case "task.proposed":
      return mergeLines(event, state, style);
    case "run.ended":
      return endLines(event, state, style);
    case "task.blocked":
      return [`  ${style.bad("■ blocked")}   ${event.task}: ${event.reason}`];
    case "work.left":
    case "work.stayed":
    case "work.returned":
    case "work.refused":
    case "work.discarded": {
      const words = workInWords(event);
      if (words === null) return [];
      const isFine = event.type === "work.left" || event.type === "work.returned";
      return [isFine ? style.dim(`  · ${event.task}: ${words}`) : style.ask(`  ! ${event.task}: ${words}`)];
    }
    case "task.cancelled":
      return [`  ${style.bad("■ cancelled")} ${event.task}`];
    case "task.exhausted":
      return [
        `  ${style.bad("■ given up")}  ${event.task} for this run: ${event.iterations} iterations are used up`,
      ];
    default:
      return [...brakeLines(event, style), ...peopleLines(event, state, style)];
  }
}

function storyLines({ task, from, to, edits }: EventOf<"story.settled">, style: Style): readonly string[] {
  if (from === to) return [`  ${style.dim("↺")} ${task}: what the agent did to the stories is undone`];
  if (to === "needs_review") return [`  ${style.good("→")} ${task} goes to review`];
  if (to === "changes_requested")
    return [`  ${style.ask("←")} ${task} goes back: the review asks for changes`];
  const isForced = edits.some(({ value }) => String(value).includes(AUTO_APPROVED));
  return isForced
    ? [style.ask(`  ! ${task} is approved because it has been reviewed as often as it may be`)]
    : [];
}

function baselineLines({ task, gates }: EventOf<"baseline.measured">, style: Style): readonly string[] {
  const red = gates.filter(({ status }) => isFailing(status)).map(({ name }) => name);
  return red.length === 0 ? [] : ["", style.ask(`! ${task}: red before anything is done: ${red.join(", ")}`)];
}

function oldCheckLines(
  { oldChecks, durationMs }: EventOf<"old-checks.ran">,
  style: Style,
): readonly string[] {
  const red = redGates(oldChecks.gates).map(({ name }) => name);
  const how = red.length === 0 ? "pass" : `fail: ${red.join(", ")}`;
  const files = few(oldChecks.files, 3);
  return [style.dim(`  · old checks ${how} (${formatDuration(durationMs)}; as before the task: ${files})`)];
}

function readerLines({ reading }: EventOf<"reader.answered">, style: Style): readonly string[] {
  const { review, durationMs, usage } = reading;
  const cost = usage.costUsd === null ? "" : ` · ${dollars(usage.costUsd)}`;
  const says = readingInWords(reading).replace(/\.$/, "");
  if (review === null) return [style.ask(`  ! ${says}`)];
  return [style.dim(`  · second reader ${says} (${formatDuration(durationMs)}${cost})`)];
}

/** Most of them are told with the verdict. */
function interventionLines(
  event: EventOf<"intervention.chosen">,
  { proposals }: State,
  style: Style,
): readonly string[] {
  if (["too-big", "looks-secret", "commit-hook"].includes(event.rule))
    return [`              ${style.dim(`→ ${event.feedback.text}`)}`];
  if (event.rule === "task-list") {
    const proposal = proposals.find(({ number }) => number === event.iteration);
    const did = changesInWords(proposal?.changes ?? []);
    const how = `to take it over: ralph tasks accept ${event.iteration}`;
    return [style.ask(`  ! the agent edited the task list (${did}), which was undone; ${how}`)];
  }
  if (event.rule === "story-review") return [];
  if (event.intervention === "illegal_transition")
    return [style.ask("  ! the agent marked tasks as done itself; the marks were taken back")];
  if (event.intervention !== "mid_stream_prompt_injected") return [];
  const how = event.isFedBack ? "could not be told" : "was told";
  return [style.ask(`  ! half of the time is over and nothing is written: the agent ${how}`)];
}

/** Why it ended and what to do next; a run that is complete needs no words. */
function endLines(event: EventOf<"run.ended">, state: State, style: Style): readonly string[] {
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
  const letter = state.tasks[asked.task]?.letter ?? null;
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
  const counts = `${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}${done > 0 ? `, ${done} done` : ""}`;
  return [
    `${style.bold("ralph run")} · ${plan.source.label} · ${counts} · ${agentsInWords(run.settings)}${inside}${budget}`,
    style.dim(`  gates: ${gates.length === 0 ? "none (only git is checked)" : gates.join(", ")}`),
  ];
}

function startLine(event: EventOf<"iteration.started">, state: State, style: Style): string {
  const title = state.plan?.tasks.find((task) => task.id === event.task)?.title ?? "";
  const who = event.stage === BUILD.name ? "" : `${event.stage}: ${event.agent} · `;
  const count = `${who}iteration ${event.iteration} (${event.ordinal}/${event.maxIterations})`;
  return `${style.bold(`▸ ${event.task}`)}  ${title}  ${style.dim(`${event.complexity} · ${formatDuration(event.timeoutMs)} each · ${count}`)}`;
}

function verdictLines(
  event: Recorded<EventOf<"verdict.reached">>,
  record: IterationRecord | undefined,
  style: Style,
): readonly string[] {
  const sentences = event.reasons.map((reason) => reason.sentence);
  const why = sentences.join("; ");
  switch (event.verdict) {
    case "accepted": {
      const [evidence = "", ...remarks] = sentences;
      return [
        `  ${style.good("✔ accepted")}  ${[facts(record), evidence].filter(Boolean).join(" · ")}`,
        ...remarks.map((remark) => style.dim(`              · ${remark}`)),
      ];
    }
    case "continue":
      return [`  ${style.dim("· continue")}  ${[facts(record), why].filter(Boolean).join(" · ")}`];
    case "challenged":
      return [
        `  ${style.ask("? challenged")}  claims done, but ${why}`,
        style.dim("              → the next prompt asks the agent to fix or to answer it"),
      ];
    case "rejected":
      return [
        `  ${style.bad("✗ rejected")}  claims done, but ${why}`,
        style.dim("              → the next prompt says so"),
      ];
    case "failed":
      return [`  ${style.bad("✗ failed")}    ${why}`];
    case "decide":
      return [
        record?.report?.claim.is === "undecided"
          ? `  ${style.ask("? decide")}    "${why}"${choice(record)}`
          : `  ${style.ask("? decide")}    ${why}`,
      ];
    case "blocked":
      return [];
  }
}

function deniedLines(record: IterationRecord | undefined, style: Style): readonly string[] {
  const { denied = [], failure } = record?.report ?? { failure: null };
  if (denied.length === 0) return [];
  const next = style.dim("              → allow it in the agent's own settings, or change permission_mode");
  const isSaid = failure?.message.startsWith("not permitted") === true;
  return isSaid ? [next] : [style.ask(`  ! not permitted: ${few(denied, 5)}`), next];
}

function facts(record: IterationRecord | undefined): string {
  if (record?.evidence == null) return "";
  const { evidence, report } = record;
  const files = `${evidence.changed.files} ${evidence.changed.files === 1 ? "file" : "files"}`;
  const moved = evidence.headAfter !== null && evidence.headAfter !== evidence.headBefore;
  return `${files}${moved ? `, commit ${evidence.headAfter?.slice(0, 7)}` : ""}${report === null ? "" : ` · ${formatDuration(report.durationMs)}`}`;
}

function choice(record: IterationRecord | undefined): string {
  const claim = record?.report?.claim;
  if (claim?.is !== "undecided") return "";
  const { options, default: answer = null, deadlineMs: deadlineAt = null } = claim;
  const words = choiceInWords({ options, default: answer, deadlineAt }, 0);
  return words === "" ? "" : `  ${words}`;
}

/** What holds a run up, and what lets it go on. */
function brakeLines(event: Recorded, style: Style): readonly string[] {
  switch (event.type) {
    case "wait.started":
      return [
        `  ${style.dim(`… waiting${event.until === null ? "" : ` until ${isoTime(event.until)}`}: ${event.why}`)}`,
      ];
    case "retry.requested":
      return [style.dim("  … trying again at once")];
    case "breaker.moved":
      return [breakerLine(event, style)];
    case "budget.neared":
      return [budgetLine(event, style)];
    case "stop.requested":
      return [
        style.dim(
          event.urgency === "now" ? "stopping: the agent is asked to end" : "stopping after this iteration",
        ),
      ];
    default:
      return [];
  }
}

function breakerLine({ to, reason }: EventOf<"breaker.moved">, style: Style): string {
  switch (to) {
    case "CLOSED":
      return `  ${style.good("✔ breaker")}   closed: ${reason}`;
    case "HALF_OPEN":
      return style.ask(`  ! breaker   half open: ${reason}; without progress now it opens again`);
    case "OPEN":
      return `  ${style.bad("■ breaker")}   open: ${reason}`;
  }
}

function budgetLine({ budget, spentUsd, budgetUsd }: EventOf<"budget.neared">, style: Style): string {
  const whose = budget === "run" ? "this run" : "a day";
  return style.ask(`  ! ${dollars(spentUsd)} of the ${dollars(budgetUsd)} for ${whose} are spent`);
}

/** How a task passes from one worker to another. Who takes up what nobody had is no news. */
function fleetLines(event: EventOf<"task.taken" | "task.dropped">, style: Style): readonly string[] {
  if (event.type === "task.dropped")
    return [`  ${style.ask("↷ dropped")}   ${event.task}: ${event.worker} could not go on: ${event.why}`];
  if (event.from === null) return [];
  const who =
    event.from === event.worker
      ? `${event.worker} is back`
      : `${event.from} vanished, ${event.worker} goes on`;
  return [`  ${style.ask("↷ taken")}     ${event.task}: ${who}`];
}

type MergeEvent = EventOf<
  "worktree.failed" | "checkout.changed" | "merge.failed" | "merge.held" | "task.merged" | "task.proposed"
>;

/** What becomes of accepted work that was done in a worktree. */
function mergeLines(event: MergeEvent, state: State, style: Style): readonly string[] {
  const base = taskState(state, event.task).worktree?.base ?? "the base";
  switch (event.type) {
    case "worktree.failed":
      return [`  ${style.bad("■ blocked")}   ${event.task}: its worktree could not be set up: ${event.why}`];
    case "checkout.changed":
      return [style.ask(`  ! ${strayedInWords(event)}`)];
    case "task.proposed":
      return [`  ${style.good("⇒ proposed")}  ${event.task}: ${event.url}`, ...leftOutLines(event, style)];
    case "task.merged":
      return [
        `  ${style.good("⇒ merged")}    ${event.task} into ${base}, ${event.to.slice(0, 7)}`,
        ...leftOutLines(event, style),
      ];
    case "merge.held":
      return [`  ${style.ask("! waits")}     ${event.task}: ${event.why}`];
    case "merge.failed":
      return [`  ${style.ask("← back")}      ${event.task}: ${whyNot(event)}`];
  }
}

function leftOutLines({ leftOut }: { readonly leftOut?: string }, style: Style): readonly string[] {
  return leftOut === undefined ? [] : [style.ask(`  ! ${leftOut}`)];
}

function strayedInWords({ task, beside, head, paths }: EventOf<"checkout.changed">): string {
  const moved = head === null ? [] : [`HEAD is at ${head.slice(0, 7)} now`];
  const what = [...moved, ...(paths.length === 0 ? [] : [few(paths)])].join(", ");
  const who = few([task, ...beside]);
  return `your checkout changed while ${who} ran: ${what}. If that was not you, an agent has left its worktree`;
}

function whyNot({ base, conflicts, gates }: EventOf<"merge.failed">): string {
  if (conflicts.length > 0) return `it does not merge into ${base}: conflicts in ${few(conflicts)}`;
  const red = redGates(gates).map(({ name }) => name);
  return `merged into ${base} it does not pass: ${few(red)}`;
}

/** What is told about questions, answers, letters and messages, below the iteration that they are about. */
function peopleLines(event: Recorded, state: State, style: Style): readonly string[] {
  switch (event.type) {
    case "letter.disturbed":
      return [
        style.ask(
          `  ! ${event.file} changed while the agent ran: that is no answer. Save it again while none runs, or type: ${instead(event, state)}`,
        ),
      ];
    case "question.asked": {
      const answer = `ralph decide ${asArgument(event.task)} ${asWords(event.options[0] ?? "…")}`;
      if (state.run?.settings.keepGoing !== true && event.acceptance === undefined) return [];
      const meanwhile = hasOthers(state, event.task) ? "      the others go on meanwhile" : "";
      return [style.dim(`              → ${answer}${meanwhile}`)];
    }
    // Said where no verdict says it: a person accepted the claim.
    case "task.completed":
      return (event.certificate.person ?? null) === null
        ? []
        : [`  ${style.good("✔ accepted")}  ${event.task}: by a person (iteration ${event.iteration})`];
    case "question.answered": {
      const why = event.by === "deadline" ? " (the default: nobody answered in time)" : "";
      return [`  ${style.good("✔ answered")}  ${event.task}: ${event.answer}${why}`];
    }
    case "task.unblocked":
      return [`  ${style.good("✔ unblocked")} ${event.task}: ${event.reason}`];
    case "steer.given":
      return [`  ${style.ask("✎ message")}   for ${event.task ?? "whatever comes next"}: ${event.text}`];
    case "steer.used": {
      const how = event.how === "message" ? "was told" : "had a message of yours in its prompt";
      return [style.dim(`              → iteration ${event.iteration} ${how}`)];
    }
    case "steer.deferred":
      return [style.dim("              → its agent takes no messages: the next prompt has it")];
    default:
      return [];
  }
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
