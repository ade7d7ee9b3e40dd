import { formatDuration } from "../duration.ts";
import { few } from "../few.ts";
import type { Evidence } from "../report/evidence.ts";
import { isoTime } from "../time.ts";
import { snakeCase } from "../wire.ts";
import { claimOf, correctionsInWords, verdictInWords, type IterationStory } from "./explain-iteration.ts";
import { asSentence, count, gateInWords, shortCommit } from "./explain-words.ts";
import { historyEntry } from "./history.ts";
import { transcriptName } from "./transcript-name.ts";

/** One iteration in full: a headline, then groups of sentences by what they are about. */
export interface IterationDetails {
  readonly headline: string;
  readonly groups: readonly DetailGroup[];
}

export interface DetailGroup {
  readonly about: "claim" | "evidence" | "gates" | "verdict" | "told" | "then";
  readonly sentences: readonly string[];
}

export function explainIteration(story: IterationStory): IterationDetails {
  const { record, corrections, consequences } = story;
  const { report, evidence } = record;
  const time = report === null ? "" : `, ${formatDuration(report.durationMs)}`;
  const groups: readonly DetailGroup[] = [
    { about: "claim", sentences: claimSentences(story) },
    { about: "evidence", sentences: evidence === null ? [] : evidenceSentences(evidence) },
    { about: "gates", sentences: gateSentences(story) },
    { about: "verdict", sentences: [verdictInWords(story)] },
    {
      about: "told",
      sentences: [
        correctionsInWords(story),
        ...corrections.map(({ severity, feedback }) => `${severity}: ${feedback.text}`),
      ].filter((sentence) => sentence !== ""),
    },
    { about: "then", sentences: consequences },
  ];
  return {
    headline: `Iteration ${record.iteration}: ${record.task} (${record.ordinal}/${record.maxIterations}) by ${record.agent}${record.worker === undefined ? "" : ` on ${record.worker}`}, ${isoTime(record.startedAt).slice(0, 19)}Z${time} of at most ${formatDuration(record.timeoutMs)}.`,
    groups: groups.filter(({ sentences }) => sentences.length > 0),
  };
}

function claimSentences(story: IterationStory): readonly string[] {
  const { report } = story.record;
  if (report === null) return ["The agent is running."];
  const cited = report.signals?.citations ?? [];
  return [
    `The agent ${claimOf(story)}.`,
    ...(cited.length === 0 ? [] : [`It says that it wrote ${few(cited, 10)}.`]),
    ...(report.sweptProcesses > 0
      ? [`It left ${count(report.sweptProcesses, "process", "processes")} running; they were ended.`]
      : []),
  ];
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
    ...sentence(
      "What a gate runs is no longer what the run started with",
      evidence.changedDefinitions.map(({ gate, where }) => `${where} (gate "${gate}")`),
    ),
    ...sentence(
      "Tests weakened",
      evidence.weakened.map(({ path, what }) => `${path}: ${what}`),
    ),
    ...sentence("Marked as done by the agent itself, and taken back", evidence.marksTakenBack),
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

function gateSentences({ record }: IterationStory): readonly string[] {
  if (record.gates.length > 0) return record.gates.map((gate) => asSentence(gateInWords(gate)));
  return record.verdict === null || record.verdict === "accepted"
    ? []
    : ["No gate ran: there was nothing for them to decide."];
}

/** The same for scripts. */
export function iterationJson(story: IterationStory): Record<string, unknown> {
  const { record, corrections, consequences, retryAt } = story;
  const { headline, groups } = explainIteration(story);
  return {
    schema: "ralph.why.v1",
    kind: "iteration",
    headline,
    ...historyEntry(record),
    reasons: record.reasons,
    evidence: snakeCase(record.evidence),
    gates: snakeCase(record.gates),
    corrections: corrections.map(correctionJson),
    consequences,
    made_progress: record.madeProgress,
    retry_at: retryAt === null ? null : isoTime(retryAt),
    transcript: transcriptName(record.iteration),
    explanation: Object.fromEntries(groups.map(({ about, sentences }) => [about, sentences])),
  };
}

export function correctionJson(correction: IterationStory["corrections"][number]): Record<string, unknown> {
  const { intervention, severity, rule, feedback, isFedBack } = correction;
  return { type: intervention, severity, rule, text: feedback.text, fed_back: isFedBack };
}
