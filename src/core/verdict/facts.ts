import { asArgument, few } from "../text.ts";
import { globMatcher } from "../glob.ts";
import { ADVICE, type InterventionType } from "../interventions/intervention.ts";
import type { Task } from "../plan/task.ts";
import type { AgentReport } from "../report/agent-report.ts";
import { hasTurnedGreen, isFailing, type CheckedGate, type GateOutcome } from "../report/checked-gate.ts";
import type { Evidence, Leftover } from "../report/evidence.ts";
import { isAtCap, type ReviewMode, reviewCapOf, reviewOf, storySignal } from "../review/story-review.ts";
import type { GateSettings, Settings } from "../settings.ts";
import { findingsIn, isReading, kindOf, type SentBack } from "../stages/stages.ts";
import type { Concern } from "./concerns.ts";
import type { Reading } from "./reader.ts";

/** A pure check of the facts. Its objection rejects a claim. */
export interface Guard {
  readonly name: string;
  readonly intervention: InterventionType;
  /** When it is asked: about the `work` of every iteration, or about a `claim` of completion in whatever form. */
  readonly looksAt: "work" | "claim";
  /** The objection, as the end of "claims completion, but …", or undefined when there is none. */
  readonly check: (context: CaseContext) => string | undefined;
  /** What the agent should do about it; the objection itself is read by people too. */
  readonly advice?: string | ((context: CaseContext) => string);
  /** A warning is told and recorded, but does not reject. */
  readonly onlyWarns?: boolean;
  /** It could not answer, and what `check` says is why. */
  readonly isBroken?: boolean;
}

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
  /** What was set back. */
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
  return findingsOf(
    [...GUARDS.filter((guard) => guard !== passingTests), ...pluginGuards(context)],
    context,
    claimed,
  );
}

export function findAll(context: CaseContext, claimed: boolean): readonly Finding[] {
  return findingsOf([...GUARDS, ...pluginGuards(context)], context, claimed);
}

/** The checks that a claim had to pass. */
export function guardsAsked(context: CaseContext): readonly string[] {
  return [...GUARDS, ...pluginGuards(context)].map(({ name }) => name);
}

function findingsOf(guards: readonly Guard[], context: CaseContext, claimed: boolean): readonly Finding[] {
  return guards
    .filter(({ looksAt }) => looksAt === "work" || claimed)
    .flatMap(({ name, intervention, check, advice = null, onlyWarns = false, isBroken = false }) => {
      const sentence = check(context);
      if (sentence === undefined) return [];
      const said = typeof advice === "function" ? advice(context) : advice;
      const finding = { guard: name, intervention, sentence, rejects: !onlyWarns, advice: said };
      return [{ ...finding, ...(isBroken && { isBroken }) }];
    });
}

/** Needs no change of files when the task says so, or a gate that was red is green now. */
const noChanges: Guard = {
  name: "no-changes",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check({ evidence, stage, task, report, gates, baseline, settings }) {
    if (isReading(settings, stage) || task?.changes === "none" || report.claim.is === "already-done")
      return undefined;
    // Work that is elsewhere or was put back is another guard's to name.
    if (evidence.strayedTo !== null || evidence.putBack.length > 0) return undefined;
    if (evidence.changedSinceTaskBegan.files === 0) {
      const isRequired = (name: string): boolean =>
        settings.gates.some((gate) => gate.name === name && gate.required);
      const mayTurn = (baseline ?? []).some(({ name, status }) => isRequired(name) && isFailing(status));
      const hasTurned = (gates ?? []).some(hasTurnedGreen);
      if (gates === null ? mayTurn : hasTurned) return undefined;
      const { cause } = whyNothingCounts(evidence);
      return `no file has changed since the task began${cause === "" ? "" : `: ${cause}`}`;
    }
    return undefined;
  },
  advice: ({ evidence }) => whyNothingCounts(evidence).advice,
};

/** Work that was sent back changes, or each finding has an answer. */
const openFindings: Guard = {
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
    const have = open.length === 1 ? `finding ${open[0]} has` : `findings ${few(open.map(String))} have`;
    return open.length === 0 && sent.findings.length > 0
      ? undefined
      : `no file has changed since the ${sent.by} asked for changes${open.length === 0 ? "" : `, and ${have} no answer`}`;
  },
  advice:
    "Change what the findings are about. Where the work is right as it is, answer on a line of its own, with the number and the reason: `Finding 1: …`. Then claim again.",
};

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
export function whyNothingCounts({
  blankFiles = [],
  marksTakenBack,
  list = [],
  elsewhere,
  isPlanTicked,
}: Evidence): {
  readonly cause: string;
  readonly advice: string;
} {
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

const offBranch: Guard = {
  name: "off-branch",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  check: ({ evidence: { strayedTo } }) =>
    strayedTo === null
      ? undefined
      : `the work is at ${strayedTo}, which does not continue the branch that was checked out`,
  advice: ({ evidence: { strayedTo } }) =>
    `${ADVICE["off-branch"]} Bring the work over with \`git merge ${asArgument(strayedTo ?? "")}\`.`,
};

const dirtyTree: Guard = {
  name: "dirty-tree",
  intervention: "dirty_tree",
  looksAt: "claim",
  check: ({ evidence, settings, leftBefore }) => {
    const looks = new Map(leftBefore.map(({ path, look }) => [path, look]));
    const own = evidence.uncommitted.filter(({ path, look }) => looks.get(path) !== look);
    const paths = own.map(({ path }) => path);
    return settings.git.commit === "agent" && paths.length > 0
      ? `these files are not committed: ${few(paths, 10)}`
      : undefined;
  },
  advice: ADVICE["dirty-tree"],
};

/** Work of which nothing could be committed is not in git. */
const uncommittedWork: Guard = {
  name: "uncommitted-work",
  intervention: "dirty_tree",
  looksAt: "claim",
  check: ({ evidence, settings }) => {
    const { uncommitted, changedSinceTaskBegan } = evidence;
    const isOurs = settings.git.commit === "ralph" && changedSinceTaskBegan.files > 0;
    if (!isOurs || uncommitted.length < changedSinceTaskBegan.files) return undefined;
    const paths = new Set(uncommitted.map(({ path }) => path));
    const isAllThere = changedSinceTaskBegan.paths.every((path) => paths.has(path));
    return isAllThere ? `none of the work could be committed: ${few([...paths])}` : undefined;
  },
  advice: ADVICE["uncommitted-work"],
};

/** The files have been put back by then. */
const protectedPaths: Guard = {
  name: "protected-paths",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  check({ evidence: { putBack }, stage, settings }) {
    if (putBack.length === 0) return undefined;
    return isReading(settings, stage)
      ? `a ${stage} changes no files, and ${few(putBack)} had to be put back as before`
      : `protected files were changed (${few(putBack)}); they have been put back as they were`;
  },
  advice({ stage, settings, iteration }) {
    if (isReading(settings, stage)) return "Say what has to be changed instead of changing it.";
    const kept = `.ralph/logs/put-back/iteration-${String(iteration).padStart(3, "0")}`;
    return `Only the operator changes them. ${ADVICE["protected-paths"]} Your version is kept in ${kept}. If the task cannot be done without this change, print <promise>BLOCKED:which file, and why</promise>.`;
  },
};

/** What kept changes from git's eyes has been undone by then. */
const hiddenChanges: Guard = {
  name: "hidden-changes",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  check: ({ evidence: { hidden = [] } }) =>
    hidden.length === 0 ? undefined : `changes were hidden from git, which is undone: ${few(hidden)}`,
  advice: `${ADVICE["hidden-changes"]} Then claim again.`,
};

const CLAUSES = /[.!;,:\n–—]+/;
const PASSED = /\bREVIEW PASSED\b/i;
const APPROVED = /\bapproved\b(?!\s*\?)/i;
/** Words shortly before it that make it something else. */
const NOT_SO =
  /\b(?:not|never|no|none|nothing|nobody|cannot|can't|don't|doesn't|isn't|wasn't|won't|before|until|unless|if|once|should|would|could)\b|n't\b/i;
const WORDS_BEFORE = 4;

/** A reviewer's promise needs words that approve. */
const approval: Guard = {
  name: "approval",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check: ({ stage, settings, task, report }) =>
    isReviewer(settings, task, stage) && !report.finalText.split(CLAUSES).some(approves)
      ? 'a review that passes says so: "REVIEW PASSED", with its reasons'
      : undefined,
  advice:
    "If there is something to change, print <promise>CHANGES_REQUESTED:what is wrong</promise> instead.",
};

/** The review cycle has words of its own. */
function isReviewer(settings: Settings, task: Task | undefined, stage: string): boolean {
  return kindOf(settings, stage) === "reviewer" && reviewOf(settings, task) === null;
}

function approves(clause: string): boolean {
  const said = PASSED.exec(clause) ?? APPROVED.exec(clause);
  if (said === null) return false;
  const before = clause.slice(0, said.index).trim().split(/\s+/).slice(-WORDS_BEFORE);
  return !NOT_SO.test(before.join(" "));
}

const SENTENCES_MAX = 5;

/** Objects to a review state that the agent must not change, and to a review without a decision. */
const storyReview: Guard = {
  name: "story-review",
  intervention: "illegal_transition",
  looksAt: "work",
  check(context) {
    const { stories } = context.evidence;
    if (stories === undefined) return undefined;
    const sentences = stories.problems.slice(0, SENTENCES_MAX).map(({ sentence }) => sentence);
    const more = stories.problems.length > SENTENCES_MAX ? ["and more"] : [];
    return sentences.length > 0
      ? `the stories were changed against the rules, which is undone (${[...sentences, ...more].join("; ")})`
      : undecidedReview(context);
  },
  advice: "Leave the review fields of all stories alone, and say by your promise what became of yours.",
};

function undecidedReview(context: CaseContext): string | undefined {
  const { task, stage, report, settings } = context;
  const review = reviewOf(settings, task);
  if (stage !== "review" || review === null) return undefined;
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

/** A tester's promise needs tests that pass: the project's own gates, or its words where there are none. */
const passingTests: Guard = {
  name: "passing-tests",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check({ stage, settings, gates, report }) {
    if (kindOf(settings, stage) !== "tester") return undefined;
    const tests = settings.gates.filter(runsTests).map(({ name }) => name);
    if (tests.length === 0)
      return saysPassing(report.finalText, report.signals?.testsStatus ?? null)
        ? undefined
        : "nothing says that tests pass, and the project has no gate for its tests";
    const passed = (gates ?? []).some(({ name, status }) => tests.includes(name) && status === "passed");
    return passed ? undefined : `no test gate has passed (${tests.join(", ")})`;
  },
  advice: "Run the tests, and say in your final words how many passed.",
};

export function runsTests({ name, kind }: Pick<GateSettings, "name" | "kind">): boolean {
  return kind === "test" || /test/i.test(name);
}

const PASSING =
  /\b(?:all |[1-9]\d* )?(?:unit |integration )?tests? (?:are |is |all |now )?(?:pass(?:ed|es|ing)?|green)\b|\b[1-9]\d* pass(?:ed|ing)\b/i;

function saysPassing(words: string, status: string | null): boolean {
  return status === "PASSING" || (status === null && PASSING.test(words));
}

export const GUARDS: readonly Guard[] = [
  noChanges,
  openFindings,
  offBranch,
  dirtyTree,
  uncommittedWork,
  protectedPaths,
  hiddenChanges,
  approval,
  storyReview,
  passingTests,
];

/** What guards of plugins have answered, as guards: they were asked when the evidence was collected. */
function pluginGuards({ evidence: { plugins } }: CaseContext): readonly Guard[] {
  return (plugins?.guards ?? []).map(({ guard: name, on, warns, advice, objections, failure }) => ({
    name,
    intervention: "evidence_validation_failed",
    looksAt: on,
    check: () => failure ?? (objections.length === 0 ? undefined : objections.join("; ")),
    ...(advice !== null && { advice }),
    isBroken: failure !== null,
    // A warning that could not be given holds nothing up.
    onlyWarns: warns,
  }));
}

/** What the stories of a `tasks.json` are made from. */
const OPERATORS_WORDS = ["prd.md"];

/** What the agent must not change while it works at this stage. */
export function protectionFor(settings: Settings, stage: string): (path: string) => boolean {
  if (isReading(settings, stage)) return () => true;
  const words = settings.source.kind === "tasks-json" ? OPERATORS_WORDS : [];
  const matchers = [...settings.protect.paths, ...words].map(globMatcher);
  return (path) => matchers.some((matches) => matches(path));
}
