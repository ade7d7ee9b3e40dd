import { asArgument, few } from "../text.ts";
import { globMatcher } from "../glob.ts";
import { ADVICE, type InterventionType } from "../loop/intervention.ts";
import type { Task } from "../plan.ts";
import type { AgentReport } from "../streams/agent-report.ts";
import { hasTurnedGreen, isFailing, type CheckedGate, type GateOutcome } from "./checked-gate.ts";
import type { Evidence, Leftover } from "./evidence.ts";
import { isAtCap, type ReviewMode, reviewCapOf, reviewOf, storySignal } from "../review/story-review.ts";
import type { Settings } from "../settings.ts";
import { findingsIn, isReading, kindOf, type SentBack } from "../loop/stages.ts";
import type { Concern } from "./concerns.ts";
import type { Reading } from "./reader.ts";

/** A pure check of the facts. Its objection rejects a claim. */
interface Guard {
  readonly name: string;
  readonly intervention: InterventionType;
  /** When it is asked: about the `work` of every iteration, or about a `claim` of completion in whatever form. */
  readonly looksAt: "work" | "claim";
  readonly check: (context: CaseContext) => Objection | undefined;
}

/** The end of "claims completion, but …", which people read too, and what the agent should do about it. */
type Objection = readonly [sentence: string, advice: string];

/** Everything that is known of an iteration when it is judged. */
export interface CaseContext {
  readonly task: Task | undefined;
  readonly stage: string;
  readonly iteration: number;
  /** An earlier iteration of the same loop made progress. */
  readonly hasWorkedBefore: boolean;
  readonly report: AgentReport;
  readonly evidence: Evidence;
  /** What was uncommitted when the task began: it is not this task's. */
  readonly leftBefore: readonly Leftover[];
  readonly settings: Settings;
  /** The gates before the task; null when nobody measured. */
  readonly baseline: readonly GateOutcome[] | null;
  /** Null before they ran, or when they did not. */
  readonly gates: readonly CheckedGate[] | null;
  readonly oldChecks: OldChecks | null;
  /** Null: no second reader was asked. */
  readonly reading: Reading | null;
  /** What the agent was asked to answer before, in the order of its numbers. */
  readonly challenged: readonly Concern[];
  /** What the working stage has to settle; null when nothing was sent back. */
  readonly sentBack: SentBack | null;
  /** A person has agreed to what the old checks object to. */
  readonly isAgreed: boolean;
}

/** The gates with the check files as they were before the task. */
export interface OldChecks {
  readonly files: readonly string[];
  readonly gates: readonly CheckedGate[];
}

export interface Finding {
  readonly guard: string;
  readonly intervention: InterventionType;
  readonly sentence: string;
  readonly rejects: boolean;
  readonly advice: string | null;
  /** The guard could not answer: nobody knows whether the claim is right. */
  readonly isBroken?: true;
}

/** If one of these rejects, no gate needs to run. */
export function findObjections(context: CaseContext, claimed: boolean): readonly Finding[] {
  return findAll(context, claimed).filter(({ guard }) => guard !== "passing-tests");
}

export function findAll(context: CaseContext, claimed: boolean): readonly Finding[] {
  const isAsked = (looksAt: Guard["looksAt"]): boolean => looksAt === "work" || claimed;
  const own = GUARDS.flatMap(({ name, intervention, looksAt, check }): readonly Finding[] => {
    const [sentence = null, advice = null] = (isAsked(looksAt) ? check(context) : undefined) ?? [];
    return sentence === null ? [] : [{ guard: name, intervention, sentence, rejects: true, advice }];
  });
  // Guards of plugins were asked when the evidence was collected.
  const plugins = (context.evidence.plugins?.guards ?? []).flatMap((one): readonly Finding[] => {
    const { guard, advice, failure, objections, warns } = one;
    if (!isAsked(one.on) || (failure === null && objections.length === 0)) return [];
    const sentence = failure ?? objections.join("; ");
    const found = { guard, intervention: "evidence_validation_failed", sentence, advice } as const;
    // A warning that could not be given holds nothing up.
    return [{ ...found, rejects: !warns, ...(failure !== null && { isBroken: true }) }];
  });
  return [...own, ...plugins];
}

export function guardsAsked({ evidence: { plugins } }: CaseContext): readonly string[] {
  return [...GUARDS.map(({ name }) => name), ...(plugins?.guards ?? []).map(({ guard }) => guard)];
}

const CHANGE_OR_ANSWER =
  "Change what the findings are about. Where the work is right as it is, answer on a line of its own, with the number and the reason: `Finding 1: …`. Then claim again.";
const SENTENCES_MAX = 5;

export const GUARDS: readonly Guard[] = [
  {
    name: "no-changes",
    intervention: "false_completion_detected",
    looksAt: "claim",
    check({ evidence, stage, task, report, gates, baseline, settings }) {
      if (isReading(settings, stage) || task?.changes === "none" || report.claim.is === "already-done")
        return undefined;
      // Work that is elsewhere or was put back is another guard's to name.
      if (evidence.strayedTo !== null || evidence.putBack.length > 0) return undefined;
      if (evidence.changedSinceTaskBegan.files > 0) return undefined;
      // A gate that was red and is green now is work enough.
      const mayTurn = (baseline ?? []).some(
        (one) =>
          isFailing(one.status) && settings.gates.some(({ name, required }) => required && name === one.name),
      );
      if (gates === null ? mayTurn : gates.some(hasTurnedGreen)) return undefined;
      const { cause, advice } = whyNothingCounts(evidence);
      return [`no file has changed since the task began${cause === "" ? "" : `: ${cause}`}`, advice];
    },
  },
  {
    // Work that was sent back changes, or each finding has an answer.
    name: "findings",
    intervention: "false_completion_detected",
    looksAt: "claim",
    check(context) {
      const { evidence, settings, stage, report } = context;
      const sent = sentBackIn(context);
      if (sent === null || isReading(settings, stage) || evidence.changed.files > 0) return undefined;
      if (sent.hasChanged || evidence.changedSinceTaskBegan.files === 0) return undefined;
      const said = (report.signals?.answers ?? []).filter(({ about }) => about === "finding");
      const numbers = new Set([...sent.answers, ...said].map(({ number }) => number));
      const open = sent.findings.map((_, index) => index + 1).filter((number) => !numbers.has(number));
      if (open.length === 0 && sent.findings.length > 0) return undefined;
      const have = open.length === 1 ? `finding ${open[0]} has` : `findings ${few(open.map(String))} have`;
      const unanswered = open.length === 0 ? "" : `, and ${have} no answer`;
      return [`no file has changed since the ${sent.by} asked for changes${unanswered}`, CHANGE_OR_ANSWER];
    },
  },
  {
    name: "off-branch",
    intervention: "evidence_validation_failed",
    looksAt: "work",
    check({ evidence: { strayedTo } }) {
      if (strayedTo === null) return undefined;
      const merge = `git merge ${asArgument(strayedTo)}`;
      return [
        `the work is at ${strayedTo}, which does not continue the branch that was checked out`,
        `${ADVICE["off-branch"]} Bring the work over with \`${merge}\`.`,
      ];
    },
  },
  {
    name: "dirty-tree",
    intervention: "dirty_tree",
    looksAt: "claim",
    check({ evidence, settings, leftBefore }) {
      const looks = new Map(leftBefore.map(({ path, look }) => [path, look]));
      const own = evidence.uncommitted.filter(({ path, look }) => looks.get(path) !== look);
      if (settings.git.commit !== "agent" || own.length === 0) return undefined;
      const paths = own.map(({ path }) => path);
      return [`these files are not committed: ${few(paths, 10)}`, ADVICE["dirty-tree"]];
    },
  },
  {
    // Work of which nothing could be committed is not in git.
    name: "uncommitted-work",
    intervention: "dirty_tree",
    looksAt: "claim",
    check({ evidence, settings }) {
      const { uncommitted, changedSinceTaskBegan: work } = evidence;
      const isOurs = settings.git.commit === "ralph" && work.files > 0;
      if (!isOurs || uncommitted.length < work.files) return undefined;
      const paths = new Set(uncommitted.map(({ path }) => path));
      if (!work.paths.every((path) => paths.has(path))) return undefined;
      return [`none of the work could be committed: ${few([...paths])}`, ADVICE["uncommitted-work"]];
    },
  },
  {
    // The files have been put back by then.
    name: "protected-paths",
    intervention: "evidence_validation_failed",
    looksAt: "work",
    check({ evidence: { putBack }, stage, settings, iteration }) {
      if (putBack.length === 0) return undefined;
      if (isReading(settings, stage))
        return [
          `a ${stage} changes no files, and ${few(putBack)} had to be put back as before`,
          "Say what has to be changed instead of changing it.",
        ];
      const kept = `.ralph/logs/put-back/iteration-${String(iteration).padStart(3, "0")}`;
      return [
        `protected files were changed (${few(putBack)}); they have been put back as they were`,
        `Only the operator changes them. ${ADVICE["protected-paths"]} Your version is kept in ${kept}. If the task cannot be done without this change, print <promise>BLOCKED:which file, and why</promise>.`,
      ];
    },
  },
  {
    // What kept changes from git's eyes has been undone by then.
    name: "hidden-changes",
    intervention: "evidence_validation_failed",
    looksAt: "work",
    check: ({ evidence: { hidden = [] } }) =>
      hidden.length === 0
        ? undefined
        : [
            `changes were hidden from git, which is undone: ${few(hidden)}`,
            `${ADVICE["hidden-changes"]} Then claim again.`,
          ],
  },
  {
    // A reviewer's promise needs words that approve. The review cycle has words of its own.
    name: "approval",
    intervention: "false_completion_detected",
    looksAt: "claim",
    check({ stage, settings, task, report }) {
      const isReviewer = kindOf(settings, stage) === "reviewer" && reviewOf(settings, task) === null;
      if (!isReviewer || report.finalText.split(CLAUSES).some(approves)) return undefined;
      return [
        'a review that passes says so: "REVIEW PASSED", with its reasons',
        "If there is something to change, print <promise>CHANGES_REQUESTED:what is wrong</promise> instead.",
      ];
    },
  },
  {
    // A review state that the agent must not change, or a review without a decision.
    name: "story-review",
    intervention: "illegal_transition",
    looksAt: "work",
    check(context) {
      const problems = context.evidence.stories?.problems ?? [];
      const sentences = problems.slice(0, SENTENCES_MAX).map(({ sentence }) => sentence);
      if (problems.length > SENTENCES_MAX) sentences.push("and more");
      const said =
        problems.length > 0
          ? `the stories were changed against the rules, which is undone (${sentences.join("; ")})`
          : undecidedReview(context);
      const advice =
        "Leave the review fields of all stories alone, and say by your promise what became of yours.";
      return said === undefined ? undefined : [said, advice];
    },
  },
  {
    // A tester's promise needs tests that pass: the project's own gates, or its words where there are none.
    name: "passing-tests",
    intervention: "false_completion_detected",
    looksAt: "claim",
    check({ stage, settings, gates, report }) {
      if (kindOf(settings, stage) !== "tester") return undefined;
      const advice = "Run the tests, and say in your final words how many passed.";
      const tests = settings.gates
        .filter(({ name, kind }) => kind === "test" || /test/i.test(name))
        .map(({ name }) => name);
      if (tests.length === 0) {
        const status = report.signals?.testsStatus ?? null;
        return status === "PASSING" || (status === null && PASSING.test(report.finalText))
          ? undefined
          : ["nothing says that tests pass, and the project has no gate for its tests", advice];
      }
      const hasPassed = (gates ?? []).some(({ name, status }) => tests.includes(name) && status === "passed");
      return hasPassed ? undefined : [`no test gate has passed (${tests.join(", ")})`, advice];
    },
  },
];

/** Of a story, the findings are what its file says. */
function sentBackIn({ sentBack, stage, task, settings, hasWorkedBefore }: CaseContext): SentBack | null {
  const review = stage === ("review-fix" satisfies ReviewMode) ? reviewOf(settings, task) : null;
  if (review === null) return sentBack;
  const before = sentBack ?? {
    by: "review",
    iteration: 0,
    answers: [],
    isOpen: true,
    hasChanged: hasWorkedBefore,
  };
  return { ...before, findings: findingsIn(review.reviewFeedback) };
}

/** The true cause of an empty change set, empty when the agent did nothing, and the way out. */
export function whyNothingCounts(evidence: Evidence): { readonly cause: string; readonly advice: string } {
  const { blankFiles = [], marksTakenBack, list = [], elsewhere, isPlanTicked } = evidence;
  if (elsewhere !== undefined)
    return {
      cause: `there is work at ${elsewhere}, which is not part of the branch that is checked out`,
      advice: `If it is yours, bring it over: ${elsewhere === "stash" ? "git stash pop" : `git merge ${asArgument(elsewhere)}`}`,
    };
  if (blankFiles.length > 0)
    return {
      cause: `there is no visible character in ${few(blankFiles)}`,
      advice: "An empty file is no work: write its content.",
    };
  if (marksTakenBack.length + list.length > 0 || isPlanTicked === true)
    return {
      cause: "only the task list was edited",
      advice: "Edit the files that the task is about.",
    };
  return {
    cause: "",
    advice: `${ADVICE["no-changes"]} If everything was there before the task began, print <promise>ALREADY_DONE:where it is</promise>.`,
  };
}

const CLAUSES = /[.!;,:\n–—]+/;
const PASSED = /\bREVIEW PASSED\b/i;
const APPROVED = /\bapproved\b(?!\s*\?)/i;
/** Words shortly before it that make it something else. */
const NOT_SO =
  /\b(?:not|never|no|none|nothing|nobody|cannot|can't|don't|doesn't|isn't|wasn't|won't|before|until|unless|if|once|should|would|could)\b|n't\b/i;
const WORDS_BEFORE = 4;

function approves(clause: string): boolean {
  const said = PASSED.exec(clause) ?? APPROVED.exec(clause);
  if (said === null) return false;
  const before = clause.slice(0, said.index).trim().split(/\s+/).slice(-WORDS_BEFORE);
  return !NOT_SO.test(before.join(" "));
}

function undecidedReview(context: CaseContext): string | undefined {
  const { task, stage, report, settings, evidence } = context;
  const review = reviewOf(settings, task);
  if (stage !== "review" || review === null || evidence.stories === undefined) return undefined;
  const signal = storySignal(context);
  if (signal?.is === "complete")
    return `it claims that every story is approved, and ${review.id}, which was to be reviewed, is not`;
  const isHeld = report.claim.is === "blocked" || report.claim.is === "undecided";
  if (signal !== null || isHeld || report.failure !== null) return undefined;
  const choices = isAtCap(review, reviewCapOf(settings))
    ? "it has to be approved now"
    : "approve it, or request changes";
  return `the review of ${review.id} ended without a decision: ${choices}`;
}

const PASSING =
  /\b(?:all |[1-9]\d* )?(?:unit |integration )?tests? (?:are |is |all |now )?(?:pass(?:ed|es|ing)?|green)\b|\b[1-9]\d* pass(?:ed|ing)\b/i;

/** What the stories of a `tasks.json` are made from. */
const OPERATORS_WORDS = ["prd.md"];

/** What the agent must not change while it works at this stage. */
export function protectionFor(settings: Settings, stage: string): (path: string) => boolean {
  if (isReading(settings, stage)) return () => true;
  const words = settings.source.kind === "tasks-json" ? OPERATORS_WORDS : [];
  const matchers = [...settings.protect.paths, ...words].map(globMatcher);
  return (path) => matchers.some((matches) => matches(path));
}
