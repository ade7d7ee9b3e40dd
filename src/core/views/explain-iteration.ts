import { PERSON } from "../loop/stages.ts";
import { dollars } from "../loop/brakes.ts";
import { changesInWords } from "../plan-checks.ts";
import type { EventOf, Recorded } from "../events.ts";
import { redGates } from "../verdict/checked-gate.ts";
import type { Evidence } from "../verdict/evidence.ts";
import { capital, few } from "../text.ts";
import { formatDuration, type Instant, isoTime } from "../time.ts";
import type { CheckedCriterion } from "../verdict/certificate.ts";
import { settlementInWords, type WeighedConcern } from "../verdict/concerns.ts";
import type { Reason } from "../verdict/verdict.ts";
import { snakeCase } from "../wire.ts";
import {
  asSentence,
  claimInWords,
  count,
  gateInWords,
  gatesBehindClaim,
  joined,
  shortCommit,
} from "./explain-words.ts";
import { historyEntry } from "./iteration-entries.ts";
import { completionOf, correctionsOf, type IterationRecord } from "./iteration-record.ts";
import { transcriptName } from "./ralph-files.ts";

/** What followed from its verdict, as sentences. */
export function consequencesOf(record: IterationRecord): readonly string[] {
  return record.followed.flatMap((event) => consequenceInWords(event, record) ?? []);
}

function consequenceInWords(event: Recorded, { verdict, reasons }: IterationRecord): string | null {
  switch (event.type) {
    case "agent.suspended": {
      const after = event.successor === null ? "Nobody can take over." : `${event.successor} takes over.`;
      return `${event.agent} was taken off the task: ${event.why}. ${after}`;
    }
    case "stage.passed":
      return `It goes on to the ${event.next}.`;
    case "stage.objected":
      return event.stage === PERSON ? "A person sent it back." : `It goes back to the ${event.to}.`;
    case "story.settled":
      return storyInWords(event);
    case "task.blocked":
      return verdict === "blocked" ? null : `So the task is blocked: ${asSentence(event.reason)}`;
    case "task.failed": {
      const isKnown = event.reason === reasons.map(({ sentence }) => sentence).join("; ");
      return `The task is given up for this run${isKnown ? "" : `: ${event.reason}`}.`;
    }
    case "steer.used":
      return event.how === "message"
        ? "It was given a message while it ran."
        : "A message of a person's was in its prompt.";
    case "task.exhausted":
      return `It has used up its ${count(event.iterations, "iteration")} of this run.`;
    default:
      return mergeInWords(event);
  }
}

function storyInWords({ from, to }: EventOf<"story.settled">): string | null {
  if (from === to) return "What it did to the stories was undone.";
  if (to === "needs_review") return "The story goes to review.";
  return to === "changes_requested" ? "The story goes back, with what the review found." : null;
}

/** "claimed COMPLETE", "ended without …": how it looked before anybody judged it. */
export function claimOf(record: IterationRecord): string {
  if (record.report === null) return "is running";
  if (record.reasons.some(({ rule }) => rule === "objection")) return "asked for changes";
  const { ending, durationMs } = record.report;
  switch (ending.is) {
    case "exited":
      return ending.code === 0 || record.report.claim.is !== "none"
        ? claimInWords(record.report)
        : `ended with exit code ${ending.code}`;
    case "signalled":
      return `was killed by ${ending.signal}`;
    case "timed-out":
      return `was ended after ${formatDuration(ending.afterMs)}`;
    case "idle":
      return `was ended after ${formatDuration(ending.afterMs)} without a sign of life`;
    case "stopped":
      return `was asked to stop after ${formatDuration(durationMs)}`;
    case "not-started":
      return "could not be started";
    case "interrupted":
      return "was interrupted";
  }
}

/** The verdict and what it rests on, in sentences. */
export function verdictInWords(record: IterationRecord): string {
  const { verdict, retryAt, report, evidence } = record;
  const because = asSentence(record.reasons.map((reason) => reasonInWords(reason, record)).join("; "));
  const still = record.madeProgress ? "" : " No progress.";
  switch (verdict) {
    case null:
      if (report === null) return "No verdict yet.";
      return evidence === null ? "Its changes are being read." : "It is being checked.";
    case "accepted":
      return [`Accepted: ${acceptedBecause(record).join(", ")}.`, ...remarks(record)].join(" ");
    case "continue":
      return `Not done yet: ${because}${still}`;
    case "decide":
      return `Asked: ${because}${optionsOf(record)}`;
    case "failed": {
      const rule = record.reasons[0]?.rule ?? "agent";
      const again = retryAt === null ? still : ` Tried again from ${clock(retryAt)} on.`;
      return `Failed (${rule}): ${because}${again}`;
    }
    default:
      return `${capital(verdict)}: ${because}`;
  }
}

/** A gate's reason says more than the verdict kept: how long, and how it was before. */
function reasonInWords({ rule, sentence }: Reason, { gates }: IterationRecord): string {
  const gate = gates.find(({ name }) => rule === `gate:${name}`);
  return gate === undefined ? sentence : gateInWords(gate);
}

function acceptedBecause(record: IterationRecord): readonly string[] {
  const { evidence, report, gates, reasons, oldChecks, reading } = record;
  if (evidence === null) return reasons.map(({ sentence }) => sentence);
  const { files } = evidence.changedSinceTaskBegan;
  const cited = report?.signals?.citations.length ?? 0;
  const left = evidence.uncommitted.length;
  const where = evidence.headAfter === null ? "" : ` (${shortCommit(evidence.headAfter)})`;
  const sentences = [
    files === 0 ? "nothing had to be changed" : `${count(files, "file")} changed since the task began`,
  ];
  if (cited > 0 && evidence.phantoms.length === 0)
    sentences.push(cited === 1 ? "the cited file among them" : `all ${cited} cited files among them`);
  sentences.push(...gatesBehindClaim(gates));
  if (oldChecks !== null && redGates(oldChecks.gates).length === 0)
    sentences.push(`the old checks pass too (${few(oldChecks.files, 3)})`);
  if (reading?.review != null) sentences.push(`${reading.agent} read it as second reader`);
  if (left > 0) sentences.push(`${count(left, "file")} left uncommitted${where}`);
  else if (files > 0) sentences.push(`tree committed${where}`);
  return sentences;
}

/** What was found beside the facts: warnings, concerns with who settled them, what the reader could not tell. */
function remarks({ evidence, reasons }: IterationRecord): readonly string[] {
  if (evidence === null) return [];
  return reasons
    .filter(({ rule }) => rule !== "evidence")
    .map(({ sentence }) => asSentence(capital(sentence)));
}

function optionsOf({ report }: IterationRecord): string {
  const claim = report?.claim;
  if (claim?.is !== "undecided" || claim.options.length === 0) return "";
  return ` Options: ${claim.options.join(", ")}.`;
}

/** What the agent was told because of it, now or in the next prompt; empty when there was nothing to tell. */
export function correctionsInWords(record: IterationRecord): string {
  const corrections = correctionsOf(record);
  const isAtOnce = ({ intervention, isFedBack }: Correction): boolean =>
    intervention === "mid_stream_prompt_injected" && !isFedBack;
  const later = corrections.filter((correction) => !isAtOnce(correction));
  return [
    ...(corrections.some(isAtOnce) ? ["It was corrected while it ran."] : []),
    // Nobody is told of a task that is done.
    ...(later.length === 0 || completionOf(record) !== null ? [] : [nextPromptInWords(later)]),
  ].join(" ");
}

function nextPromptInWords(corrections: readonly Correction[]): string {
  const told = corrections.filter(({ isFedBack, feedback }, at) => {
    const first = corrections.findIndex((other) => other.feedback.text === feedback.text);
    return isFedBack && first === at;
  });
  if (told.length === 0) return "The agent is not told: interventions are off.";
  const rules = joined([...new Set(told.map(({ rule }) => rule).filter((rule) => rule !== ""))]);
  const what = `${count(told.length, "correction")}${rules === "" ? "" : ` (${rules})`}`;
  const where = told.some(({ leads }) => leads) ? "At the top of the next prompt" : "For the next prompt";
  return `${where}: ${what}.`;
}

export function clock(at: Instant): string {
  return `${isoTime(at).slice(11, 19)} UTC`;
}

function withLeftOut(said: string, { leftOut }: { readonly leftOut?: string }): string {
  return leftOut === undefined ? said : `${said} ${asSentence(capital(leftOut))}`;
}

/** What became of work that was done beside the base; null for everything else. */
export function mergeInWords(event: Recorded): string | null {
  switch (event.type) {
    case "merge.failed": {
      const red = redGates(event.gates).map(({ name }) => `"${name}"`);
      return event.conflicts.length > 0
        ? `It did not merge into ${event.base}: conflicts in ${few(event.conflicts)}.`
        : `Merged into ${event.base} it did not pass: ${few(red)}.`;
    }
    case "merge.held":
      return `Its merge waits: ${asSentence(event.why)}`;
    case "merge.overtaken":
      return "The base was moved by somebody else before it was merged, so it was prepared anew.";
    case "task.merged":
      return withLeftOut(
        event.from === event.to ? "The base had it all already." : `It was merged: ${shortCommit(event.to)}.`,
        event,
      );
    case "task.proposed":
      return withLeftOut(`It was proposed: ${event.url}`, event);
    case "checkout.changed":
      return `Meanwhile somebody changed the operator's own checkout${event.paths.length === 0 ? "" : `: ${few(event.paths)}`}.`;
    default:
      return null;
  }
}

/** One iteration in full: a headline, then groups of sentences by what they are about. */
export type IterationDetails = ReturnType<typeof explainIteration>;
export type DetailGroup = IterationDetails["groups"][number];

export function explainIteration(record: IterationRecord) {
  const { report, evidence, worker } = record;
  const time = report === null ? "" : `, ${formatDuration(report.durationMs)}`;
  const who = `${record.agent}${worker === undefined ? "" : ` on ${worker}`}`;
  const told = [
    correctionsInWords(record),
    ...new Set(correctionsOf(record).map(({ severity, feedback }) => `${severity}: ${feedback.text}`)),
  ];
  const groups = [
    ["claim", claimSentences(record)],
    ["evidence", evidence === null ? [] : evidenceSentences(evidence)],
    ["gates", gateSentences(record)],
    ["old checks", oldCheckSentences(record)],
    ["reader", readerSentences(record)],
    ["concerns", record.concerns.map(concernSentence)],
    ["verdict", [verdictInWords(record)]],
    ["criteria", (completionOf(record)?.certificate.criteria ?? []).map(criterionSentence)],
    ["told", told.filter((sentence) => sentence !== "")],
    ["then", consequencesOf(record)],
  ] as const;
  return {
    headline: `Iteration ${record.iteration}: ${record.task} (${record.ordinal}/${record.maxIterations}) by ${who}, ${isoTime(record.startedAt).slice(0, 19)}Z${time} of at most ${formatDuration(record.timeoutMs)}.`,
    groups: groups
      .map(([about, sentences]) => ({ about, sentences }))
      .filter(({ sentences }) => sentences.length > 0),
  };
}

function claimSentences(record: IterationRecord): readonly string[] {
  const { report } = record;
  if (report === null) return ["The agent is running."];
  const cited = report.signals?.citations ?? [];
  return [
    `The agent ${claimOf(record)}.`,
    ...(cited.length === 0 ? [] : [`It says that it wrote ${few(cited, 10)}.`]),
    ...(report.sweptProcesses > 0
      ? [`It left ${count(report.sweptProcesses, "process", "processes")} running; they were ended.`]
      : []),
    ...deniedInWords(record),
  ];
}

export function deniedInWords({ report }: IterationRecord): readonly string[] {
  const { denied = [], failure } = report ?? { failure: null };
  const isSaid = failure?.message.startsWith("not permitted") === true;
  return denied.length === 0 || isSaid ? [] : [`It was not permitted to use ${few(denied, 5)}.`];
}

function evidenceSentences(evidence: Evidence): readonly string[] {
  const { changed, changedSinceTaskBegan: sinceTask } = evidence;
  const moved = evidence.headAfter !== null && evidence.headAfter !== evidence.headBefore;
  const files = changed.files === 0 ? "No file changed" : `${count(changed.files, "file")} changed`;
  const names = changed.paths.length === 0 ? "" : `: ${few(changed.paths, 10)}`;
  const commit = moved ? `; commit ${shortCommit(evidence.headAfter ?? "")}` : "; no commit";
  const sentence = (what: string, items: readonly string[]): readonly string[] =>
    items.length === 0 ? [] : [`${what}: ${few(items, 10)}.`];
  return [
    `${files}${names}${commit}.`,
    ...(sinceTask.files === changed.files ? [] : [`${count(sinceTask.files, "file")} since the task began.`]),
    ...sentence("Named as written, but not among the changes", evidence.phantoms),
    ...sentence("Protected, and put back as it was", evidence.putBack),
    ...sentence("Hidden from git, and undone", evidence.hidden ?? []),
    ...sentence("Files that checks judge by, changed", evidence.checkFiles ?? []),
    ...listSentences(evidence),
    ...sentence(
      "Not committed on purpose",
      evidence.leftOut.map(
        ({ path, why }) => `${path} (${why === "too-big" ? "too big" : "looks like a secret"})`,
      ),
    ),
    ...sentence(
      "Left uncommitted",
      evidence.uncommitted.map(({ path }) => path),
    ),
    ...(evidence.strayedTo === null
      ? []
      : [`The work was left on another branch, at ${evidence.strayedTo}.`]),
    ...(evidence.refusal === null ? [] : ["Git or its hooks refused to commit some of it."]),
  ];
}

function listSentences({ list = [], marksTakenBack }: Evidence): readonly string[] {
  if (list.length > 0)
    return [`In the task list the agent ${changesInWords(list)}. This was undone and kept as a proposal.`];
  return marksTakenBack.length === 0
    ? []
    : [`Marked as done by the agent itself, and taken back: ${few(marksTakenBack, 10)}.`];
}

function gateSentences(record: IterationRecord): readonly string[] {
  if (record.gates.length > 0) return record.gates.map((gate) => asSentence(gateInWords(gate)));
  return record.verdict === null || record.verdict === "accepted"
    ? []
    : ["No gate ran: there was nothing for them to decide."];
}

function oldCheckSentences({ oldChecks }: IterationRecord): readonly string[] {
  if (oldChecks === null) return [];
  return [
    `The gates ran again with these as before the task: ${few(oldChecks.files, 10)} (${formatDuration(oldChecks.durationMs)}).`,
    ...oldChecks.gates.map((gate) => asSentence(gateInWords(gate))),
  ];
}

function readerSentences({ reading }: IterationRecord): readonly string[] {
  if (reading === null) return [];
  const { agent, review, failure, undone, durationMs } = reading;
  const cost = reading.usage.costUsd === null ? "" : `, ${dollars(reading.usage.costUsd)}`;
  return [
    review === null
      ? `${agent} gave no opinion: ${asSentence(failure ?? "")}`
      : `${agent} read the claim (${formatDuration(durationMs)}${cost}).`,
    ...(review?.criteria ?? []).map(
      ({ criterion, answer, reason }) =>
        `Criterion ${criterion} ${ANSWERS[answer]}${reason === "" ? "." : `: ${asSentence(reason)}`}`,
    ),
    ...(undone.length === 0 ? [] : [`It changed ${few(undone)}, which is undone.`]),
  ];
}

const ANSWERS = { met: "is met", not_met: "is not met", cannot_tell: "cannot be told" } as const;

/** A concern, and who settled it how. */
export function concernSentence(concern: WeighedConcern): string {
  return `${concern.name}: ${concern.sentence} (${settlementInWords(concern)}).`;
}

/** An acceptance criterion, and who checked it. */
export function criterionSentence({ criterion, by, how }: CheckedCriterion): string {
  const reason = how === null || how === "" ? "." : `: ${asSentence(how)}`;
  switch (by) {
    case "gate":
      return `${criterion} – checked by gate "${how ?? ""}".`;
    case "reader":
      return `${criterion} – checked by the second reader${reason}`;
    case "person":
      return `${criterion} – checked by a person.`;
    case "nobody":
      return `${criterion} – checked by nobody${how === null ? "." : `; the second reader cannot tell${reason}`}`;
  }
}

/** The same for scripts. */
export function iterationJson(record: IterationRecord): Record<string, unknown> {
  const { retryAt } = record;
  const { headline, groups } = explainIteration(record);
  return {
    schema: "ralph.why.v1",
    kind: "iteration",
    headline,
    ...historyEntry(record),
    reasons: record.reasons,
    evidence: snakeCase(record.evidence),
    gates: snakeCase(record.gates),
    old_checks: snakeCase(record.oldChecks),
    reading: snakeCase(record.reading),
    concerns: snakeCase(record.concerns),
    corrections: correctionsOf(record).map(correctionJson),
    consequences: consequencesOf(record),
    made_progress: record.madeProgress,
    retry_at: retryAt === null ? null : isoTime(retryAt),
    transcript: transcriptName(record.iteration),
    explanation: Object.fromEntries(groups.map(({ about, sentences }) => [about, sentences])),
  };
}

type Correction = EventOf<"intervention.chosen">;

export function correctionJson({ intervention, severity, rule, feedback, isFedBack }: Correction) {
  return { type: intervention, severity, rule, text: feedback.text, fed_back: isFedBack };
}
