import type { EventOf, Recorded } from "../events.ts";
import { formatDuration } from "../duration.ts";
import type { Instant } from "../time.ts";
import { isoTime } from "../time.ts";
import type { Certificate } from "../verdict/certificate.ts";
import type { Reason } from "../verdict/verdict.ts";
import {
  asSentence,
  claimInWords,
  count,
  gateInWords,
  gatesBehindClaim,
  joined,
  shortCommit,
} from "./explain-words.ts";
import { mergeInWords } from "./explain-merge.ts";
import { extendRecord, type IterationRecord } from "./iteration-record.ts";

/** One iteration with everything that the log says of it. */
export interface IterationStory {
  readonly record: IterationRecord;
  /** After a transient failure. */
  readonly retryAt: Instant | null;
  readonly corrections: readonly EventOf<"intervention.chosen">[];
  /** What followed from its verdict, as sentences. */
  readonly consequences: readonly string[];
  /** Set when it completed its task. */
  readonly certificate: Certificate | null;
}

/** In the order in which they began; facts about other things are passed over. */
export function iterationStories(events: Iterable<Recorded>): readonly IterationStory[] {
  const stories = new Map<number, IterationStory>();
  for (const event of events) {
    if (!("iteration" in event)) continue;
    const story = stories.get(event.iteration);
    const record = extendRecord(story?.record, event);
    if (record === undefined) continue;
    const known = story ?? NOTHING_ELSE;
    const consequence = consequenceInWords(event, record);
    stories.set(record.iteration, {
      record,
      retryAt: event.type === "verdict.reached" ? event.retryAt : known.retryAt,
      corrections: event.type === "intervention.chosen" ? [...known.corrections, event] : known.corrections,
      consequences: consequence === null ? known.consequences : [...known.consequences, consequence],
      certificate: event.type === "task.completed" ? event.certificate : known.certificate,
    });
  }
  return [...stories.values()];
}

const NOTHING_ELSE = { retryAt: null, corrections: [], consequences: [], certificate: null };

function consequenceInWords(event: Recorded, { verdict, reasons }: IterationRecord): string | null {
  switch (event.type) {
    case "agent.suspended": {
      const after = event.successor === null ? "Nobody can take over." : `${event.successor} takes over.`;
      return `${event.agent} was taken off the task: ${event.why}. ${after}`;
    }
    case "stage.passed":
      return `It goes on to the ${event.next}.`;
    case "stage.objected":
      return `It goes back to the ${event.to}.`;
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
export function claimOf({ record }: IterationStory): string {
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
export function verdictInWords(story: IterationStory): string {
  const { record, retryAt } = story;
  const because = record.reasons.map((reason) => reasonInWords(reason, record)).join("; ");
  const still = record.madeProgress ? "" : " No progress.";
  switch (record.verdict) {
    case null:
      return openInWords(record);
    case "accepted":
      return `Accepted: ${acceptedBecause(story).join(", ")}.`;
    case "continue":
      return `Not done yet: ${asSentence(because)}${still}`;
    case "rejected":
      return `Rejected: ${asSentence(because)}`;
    case "blocked":
      return `Blocked: ${asSentence(because)}`;
    case "decide":
      return `Asked: ${asSentence(because)}${optionsOf(record)}`;
    case "failed": {
      const rule = record.reasons[0]?.rule ?? "agent";
      const again = retryAt === null ? "" : ` Tried again from ${clock(retryAt)} on.`;
      return `Failed (${rule}): ${asSentence(because)}${again || still}`;
    }
  }
}

function openInWords({ report, evidence }: IterationRecord): string {
  if (report === null) return "No verdict yet.";
  return evidence === null ? "Its changes are being read." : "It is being checked.";
}

/** A gate's reason says more than the verdict kept: how long, and how it was before. */
function reasonInWords({ rule, sentence }: Reason, { gates }: IterationRecord): string {
  const gate = gates.find(({ name }) => rule === `gate:${name}`);
  return gate === undefined ? sentence : gateInWords(gate);
}

function acceptedBecause({ record, certificate }: IterationStory): readonly string[] {
  const { evidence, report, gates, reasons } = record;
  const warnings = reasons.filter(({ rule }) => rule !== "evidence").map(({ sentence }) => sentence);
  if (evidence === null) return reasons.map(({ sentence }) => sentence);
  const cited = report?.signals?.citations.length ?? 0;
  const isChecked = (guard: string): boolean => certificate?.checks.includes(guard) ?? false;
  const isTrueToWords = cited > 0 && evidence.phantoms.length === 0 && isChecked("phantom-files");
  const left = evidence.uncommitted.length;
  const where = evidence.headAfter === null ? "" : ` (${shortCommit(evidence.headAfter)})`;
  return [
    `${count(evidence.changedSinceTaskBegan.files, "file")} changed since the task began`,
    ...(isTrueToWords
      ? [cited === 1 ? "the cited file among them" : `all ${cited} cited files among them`]
      : []),
    ...gatesBehindClaim(gates),
    ...(evidence.weakened.length === 0 && isChecked("weakened-tests") ? ["no test weakened"] : []),
    left === 0 ? `tree committed${where}` : `${count(left, "file")} left uncommitted${where}`,
    ...warnings.map((warning) => `but ${warning}`),
  ];
}

function optionsOf({ report }: IterationRecord): string {
  const claim = report?.claim;
  if (claim?.is !== "undecided" || claim.options.length === 0) return "";
  return ` Options: ${claim.options.join(", ")}.`;
}

/** What the agent was told because of it, now or in the next prompt; empty when there was nothing to tell. */
export function correctionsInWords({ corrections, certificate }: IterationStory): string {
  const isAtOnce = ({ intervention, isFedBack }: IterationStory["corrections"][number]): boolean =>
    intervention === "mid_stream_prompt_injected" && !isFedBack;
  const atOnce = corrections.some(isAtOnce) ? "It was corrected while it ran." : "";
  const later = corrections.filter((correction) => !isAtOnce(correction));
  // Nobody is told of a task that is done.
  if (later.length === 0 || certificate !== null) return atOnce;
  return [atOnce, nextPromptInWords(later)].filter((part) => part !== "").join(" ");
}

function nextPromptInWords(corrections: IterationStory["corrections"]): string {
  const told = corrections.filter(({ isFedBack }) => isFedBack);
  if (told.length === 0) return "The agent is not told: interventions are off.";
  const rules = joined([...new Set(told.map(({ rule }) => rule).filter((rule) => rule !== ""))]);
  const what = `${count(told.length, "correction")}${rules === "" ? "" : ` (${rules})`}`;
  return told.some(({ leads }) => leads)
    ? `At the top of the next prompt: ${what}.`
    : `For the next prompt: ${what}.`;
}

export function clock(at: Instant): string {
  return `${isoTime(at).slice(11, 19)} UTC`;
}
