import type { EventOf, Outcome, Recorded } from "../../core/events.ts";
import { formatDuration } from "../../core/duration.ts";
import { dollars } from "../../core/limits/budget.ts";
import type { State } from "../../core/loop/state.ts";
import { isBlockedOutside } from "../../core/loop/outside-waits.ts";
import { tasksInScope } from "../../core/loop/select-tasks.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import type { IterationRecord } from "../../core/projections/iteration-record.ts";
import { asArgument } from "../../core/projections/blocked.ts";
import { choiceInWords, openQuestions } from "../../core/projections/open-questions.ts";
import { AUTO_APPROVED } from "../../core/review/story-review.ts";
import { agentsInWords, BUILD } from "../../core/stages/stages.ts";
import { isFailing } from "../../core/report/checked-gate.ts";
import { peopleLines } from "./people-lines.ts";
import { brakeLines } from "./brake-lines.ts";
import { fleetLines } from "./fleet-lines.ts";
import { mergeLines } from "./merge-lines.ts";
import type { Style } from "./style.ts";

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
    case "verdict.reached":
      return verdictLines(event, record, style);
    case "intervention.chosen":
      return interventionLines(event, style);
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

/** Most of them are told with the verdict. */
function interventionLines(event: EventOf<"intervention.chosen">, style: Style): readonly string[] {
  if (["too-big", "looks-secret", "commit-hook"].includes(event.rule))
    return [`              ${style.dim(`→ ${event.feedback.text}`)}`];
  if (event.rule === "removed-task") return [style.ask(`  ! ${event.feedback.text}`)];
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
    blocked: `${isBlockedOutside(state) ? "" : "see what would help: ralph blocked --suggest; "}settle it, then: ralph run`,
    exhausted: "see why: ralph why; go on: ralph run",
    stuck: `see why: ralph why; what it was doing: ralph logs${afterStuck(state)}`,
    limited: "go on later: ralph run",
    misconfigured: "see what is missing: ralph doctor",
    stopped: "go on: ralph run",
  };
  const isShared = state.run?.settings.shared === true;
  const todo = next[event.outcome]?.replaceAll("ralph run", isShared ? "ralph submit" : "ralph run") ?? null;
  return todo === null ? [] : ["", `${style.bold(event.outcome)}: ${event.reason}`, `  → ${todo}`];
}

/** A run does not start on an open breaker by itself. */
function afterStuck({ breaker }: State): string {
  if (breaker.position !== "OPEN") return "";
  return "; change something (a commit, the tasks, the configuration, ralph steer), or let it try as it is: ralph reset --circuit; then: ralph run";
}

/** By command, or in the file; with several questions the inbox lists them. */
function howToAnswer(state: State): string {
  const [asked, ...others] = openQuestions(state);
  if (asked === undefined || others.length > 0) return "see the questions: ralph inbox; answer them";
  const letter = state.tasks[asked.task]?.letter ?? null;
  const file = letter?.kind === "decide" ? `, or write the answer into .ralph/${letter.file}` : "";
  return `ralph decide ${asArgument(asked.task)} "…"${file}`;
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
  const why = event.reasons.map((reason) => reason.sentence).join("; ");
  switch (event.verdict) {
    case "accepted":
      return [`  ${style.good("✔ accepted")}  ${[facts(record), why].filter(Boolean).join(" · ")}`];
    case "continue":
      return [`  ${style.dim("· continue")}  ${[facts(record), why].filter(Boolean).join(" · ")}`];
    case "rejected":
      return [
        `  ${style.bad("✗ rejected")}  claims done, but ${why}`,
        style.dim("              → the next prompt says so"),
      ];
    case "failed":
      return [`  ${style.bad("✗ failed")}    ${why}`];
    case "decide":
      return [`  ${style.ask("? decide")}    "${why}"${choice(record)}`];
    case "blocked":
      return [];
  }
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
