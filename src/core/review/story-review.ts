import type { Task } from "../plan.ts";
import { wasCutOff, type AgentReport } from "../streams/agent-report.ts";
import type { Evidence } from "../verdict/evidence.ts";
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../streams/json-fields.ts";
import type { Settings } from "../settings.ts";

/** Where a story of a `tasks.json` stands in the review cycle. */
export interface StoryReview extends StoryBefore {
  readonly reviewFeedback: string;
  readonly notes: string;
  readonly hasReviewFields: boolean;
}

/** What is known of a story as it was before the iteration. */
export interface StoryBefore {
  readonly id: string;
  readonly passes: boolean;
  readonly reviewStatus: ReviewStatus;
  readonly reviewCount: number;
  /** A snapshot keeps neither this nor the next. */
  readonly reviewFeedback?: string;
  /** The file gives it a `reviewStatus` or a `reviewCount`, be it null. */
  readonly hasReviewFields?: boolean;
}

export type ReviewStatus = null | "needs_review" | "changes_requested" | "approved";

/** What an iteration may be for, the most urgent first. */
export const REVIEW_MODES = ["review-fix", "review", "implement"] as const;

export type ReviewMode = (typeof REVIEW_MODES)[number];

/** Every story's state before the iteration, by its id, as it stands in the file of the active run. */
export type Snapshot = Readonly<Record<string, Pick<StoryReview, "passes" | "reviewStatus" | "reviewCount">>>;

export interface ReviewRules {
  /** A story that comes to its review with so many behind it is approved. */
  readonly cap: number;
  readonly skipReview: boolean;
  /** The only story that the iteration may take further; null when it may be any. */
  readonly story: string | null;
}

/** The fields that belong to the review cycle, and what they are in a story that nobody has touched. */
export const UNTOUCHED = {
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: "",
  notes: "",
} as const;

export type ReviewField = keyof typeof UNTOUCHED;

export const REVIEW_FIELDS = Object.keys(UNTOUCHED) as readonly ReviewField[];

/** One field of one story, and what it is to be. */
export interface FieldEdit {
  readonly story: string;
  readonly field: ReviewField;
  readonly value: string | number | boolean | null;
}

/** The story as the file has it after these edits. */
export function withEdits(story: StoryReview, edits: readonly FieldEdit[]): StoryReview {
  const values = Object.fromEntries(edits.map(({ field, value }) => [field, value]));
  const hasFields = story.hasReviewFields || "reviewStatus" in values || "reviewCount" in values;
  return { ...story, ...values, hasReviewFields: hasFields };
}

/** What makes the one story of the other. */
export function differences(
  from: StoryReview,
  to: StoryReview,
  fields: readonly ReviewField[] = REVIEW_FIELDS,
): readonly FieldEdit[] {
  return fields
    .filter((field) => from[field] !== to[field])
    .map((field) => ({ story: to.id, field, value: to[field] }));
}

/** The promise by which a review approves. */
export const APPROVED = "APPROVED";

/** What a story that was approved without being good enough for its reviewers says in its notes. */
export const AUTO_APPROVED = "[AUTO-APPROVED AT CAP]";

export function hasReviewFields(stories: readonly StoryReview[]): boolean {
  return stories.some((story) => story.hasReviewFields);
}

/** What the next iteration is for. */
export function reviewMode(stories: readonly Pick<StoryReview, "reviewStatus">[]): ReviewMode {
  if (stories.some(({ reviewStatus }) => reviewStatus === "changes_requested")) return "review-fix";
  return stories.some(({ reviewStatus }) => reviewStatus === "needs_review") ? "review" : "implement";
}

export function snapshotOf(stories: readonly StoryReview[]): Snapshot {
  return Object.fromEntries(
    stories.map(({ id, passes, reviewStatus, reviewCount }) => [id, { passes, reviewStatus, reviewCount }]),
  );
}

export function isAtCap(story: Pick<StoryReview, "reviewCount">, cap: number): boolean {
  return story.reviewCount >= cap;
}

/** How often a task may be sent back, or a story reviewed, unless the operator says otherwise. */
export const REVIEW_CAP = 5;

export function reviewCapOf({ reviewCap }: Pick<Settings, "reviewCap">): number {
  return reviewCap ?? REVIEW_CAP;
}

/** The review state of a task whose source has the review cycle; null where there is none, or it is skipped. */
export function reviewOf(settings: Pick<Settings, "skipReview">, task: Task | undefined): StoryReview | null {
  return settings.skipReview === true ? null : (task?.review ?? null);
}

/** Something about a story, or about the whole file, that must not be. */
export interface StoryProblem {
  /** Null when it is about the file. */
  readonly story: string | null;
  readonly field: string;
  readonly rule: StoryRule;
  /** Names the story and the field. */
  readonly sentence: string;
}

export type StoryRule =
  /** The form of the file: its fields and their types. */
  | "schema"
  | "unique-ids"
  /** What holds at any time in a file with the review cycle. */
  | "passes-means-approved"
  | "feedback-needed"
  | "count-range"
  | "notes-needed"
  /** What one iteration may change. */
  | "transition"
  | "count-step"
  | "feedback-cleared"
  | "cap"
  | "one-story"
  | "own-story"
  | "new-story"
  | "deleted"
  | "nothing-reviewed";

/** A story's name in a sentence; the agent may have written anything. */
export function storyName(id: string): string {
  return id.length > NAME_LENGTH_MAX ? `${id.slice(0, NAME_LENGTH_MAX)}…` : id;
}

const NAME_LENGTH_MAX = 80;

/** A value as it stands in the file. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > NAME_LENGTH_MAX ? `${text.slice(0, NAME_LENGTH_MAX)}…` : text;
}

/**
 * Reads a `tasks.json` that was parsed, and checks its form. Stories have an id; what is missing, null or wrong in one
 * is as in an untouched story.
 */
export function readStories(file: unknown): {
  readonly stories: readonly StoryReview[];
  readonly problems: readonly StoryProblem[];
} {
  const problems: StoryProblem[] = [];
  const say = (story: string | null, field: string, what: string, rule: StoryRule = "schema"): void => {
    const where = story === null ? "" : `${storyName(story)}: `;
    problems.push({ story, field, rule, sentence: `${where}${what}` });
  };
  if (!isFields(file)) {
    say(null, "userStories", 'expected an object with "userStories"');
    return { stories: [], problems };
  }
  for (const [field, what] of wrongIn(file, FILE_FIELDS)) say(null, field, `${field} ${what}`);
  if (!Array.isArray(file["userStories"])) say(null, "userStories", "userStories must be a list of stories");
  const stories = new Map<string, StoryReview>();
  for (const [at, story] of listOf(file["userStories"]).entries()) {
    const id = idOf(story);
    if (id === null) {
      const what = isFields(story) ? '"id" must be a text that is not empty' : "must be an object";
      say(null, "id", `userStories[${at}]: ${what}`);
      continue;
    }
    const fields = fieldsOf(story);
    if ((fields["title"] ?? "") === "") say(id, "title", "title is missing");
    for (const [field, what] of wrongIn(fields, STORY_FIELDS)) say(id, field, `${field} ${what}`);
    if (stories.has(id)) say(id, "id", "this id is a duplicate; every story needs its own", "unique-ids");
    else stories.set(id, storyOf(id, fields));
  }
  return { stories: [...stories.values()], problems };
}

/** Reads a snapshot; null when there is none. */
export function readSnapshot(value: unknown): readonly StoryBefore[] | null {
  return isFields(value) ? Object.entries(value).map(([id, story]) => stateOf(id, fieldsOf(story))) : null;
}

/** What a field may hold, and whether it does. */
const KINDS = {
  "a text": (value: unknown) => typeof value === "string",
  "a number": (value: unknown) => typeof value === "number",
  "true or false": (value: unknown) => typeof value === "boolean",
  "a list of texts": (value: unknown) =>
    Array.isArray(value) && value.every((item) => typeof item === "string"),
  "a whole number": (value: unknown) => Number.isSafeInteger(value),
  'null, "needs_review", "changes_requested" or "approved"': (value: unknown) =>
    STATUSES.some((status) => status === value),
} as const;

type Kinds = Readonly<Record<string, keyof typeof KINDS>>;

const FILE_FIELDS: Kinds = {
  project: "a text",
  branchName: "a text",
  description: "a text",
  verifyCommands: "a list of texts",
};

const STORY_FIELDS: Kinds = {
  title: "a text",
  description: "a text",
  acceptanceCriteria: "a list of texts",
  dependsOn: "a list of texts",
  labels: "a list of texts",
  changes: "a text",
  priority: "a number",
  passes: "true or false",
  reviewStatus: 'null, "needs_review", "changes_requested" or "approved"',
  reviewCount: "a whole number",
  reviewFeedback: "a text",
  notes: "a text",
};

function wrongIn(said: Fields, kinds: Kinds): readonly (readonly [field: string, what: string])[] {
  return Object.entries(kinds).flatMap(([field, kind]) => {
    const value = said[field] ?? null;
    return value === null || KINDS[kind](value) ? [] : [[field, `must be ${kind}, not ${shown(value)}`]];
  });
}

const STATUSES: readonly ReviewStatus[] = ["needs_review", "changes_requested", "approved"];

function idOf(story: unknown): string | null {
  const { id } = fieldsOf(story);
  if (typeof id === "number") return String(id);
  return typeof id === "string" && id.trim() !== "" ? id : null;
}

function stateOf(id: string, { passes, reviewStatus, reviewCount }: Fields): StoryBefore {
  return {
    id,
    passes: passes === true,
    reviewStatus: STATUSES.find((status) => status === reviewStatus) ?? UNTOUCHED.reviewStatus,
    reviewCount: Number.isSafeInteger(reviewCount) ? (reviewCount as number) : UNTOUCHED.reviewCount,
  };
}

function storyOf(id: string, story: Fields): StoryReview {
  return {
    ...stateOf(id, story),
    reviewFeedback: textOf(story["reviewFeedback"]) ?? UNTOUCHED.reviewFeedback,
    notes: textOf(story["notes"]) ?? UNTOUCHED.notes,
    hasReviewFields: "reviewStatus" in story || "reviewCount" in story,
  };
}

/** What an iteration in the review cycle rests on. */
export interface StoryCase {
  readonly task: Task | undefined;
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly settings: Settings;
}

/**
 * What the agent says has become of its story: by its edit of the file, or by its words. Null outside the review
 * cycle, and when it says nothing.
 */
export function storySignal({ task, report, evidence, settings }: StoryCase): ReviewSignal | null {
  const review = reviewOf(settings, task);
  const { claim, failure, promise = null } = report;
  if (review === null || failure !== null || wasCutOff(report)) return null;
  if (claim.is === "blocked" || claim.is === "undecided") return null;
  const byEdit = signalByEdit(review, evidence.stories?.own ?? review);
  if (reviewMode([review]) !== "review") return claim.is === "complete" ? { is: "complete" } : byEdit;
  const completion = task?.promise ?? settings.promise.completion;
  const byWords: ReviewSignal | null =
    claim.is === "complete" ? { is: "approved" } : readReviewSignal(promise, completion);
  // An objection in words outweighs an approval in the file.
  return byWords?.is === "changes-requested" ? byWords : (byEdit ?? byWords);
}

function signalByEdit(was: StoryReview, now: StoryReview): ReviewSignal | null {
  if (was.reviewStatus === now.reviewStatus) return null;
  switch (now.reviewStatus) {
    case "needs_review":
      return { is: "complete" };
    case "approved":
      return { is: "approved" };
    case "changes_requested":
      return { is: "changes-requested", feedback: now.reviewFeedback };
    default:
      return null;
  }
}

/** What a review wants changed, in its words; at the cap nothing is sent back any more. */
export function storyObjection(settled: StoryCase): string | null {
  const signal = storySignal(settled);
  const review = reviewOf(settled.settings, settled.task);
  if (signal?.is !== "changes-requested" || review === null) return null;
  return isAtCap(review, reviewCapOf(settled.settings)) ? null : signal.feedback;
}

/** What the fields of its story are to be when the signal counts. */
export function editsBySignal(settled: StoryCase): readonly FieldEdit[] {
  const { task, report, evidence, settings } = settled;
  const review = reviewOf(settings, task);
  const signal = storySignal(settled);
  if (review === null || signal === null) return [];
  const now = evidence.stories?.own ?? review;
  const said = { cap: reviewCapOf(settings), words: report.finalText };
  const edits = transitionBySignal(reviewMode([review]), { ...review, notes: now.notes }, signal, said);
  // What a reviewer wrote beside its approval stays; whatever else it wrote does not.
  const free = signal.is === "approved" ? { reviewFeedback: now.reviewFeedback } : {};
  const target = withEdits({ ...review, notes: now.notes, ...free }, edits);
  const others = REVIEW_FIELDS.filter(
    (field) =>
      edits.every((edit) => edit.field !== field) &&
      (target[field] !== now[field] || target[field] !== review[field]),
  );
  return [...edits, ...others.map((field) => ({ story: review.id, field, value: target[field] }))];
}

/** What takes back the agent's own edit of its story, when it does not count. */
export function editsBack({ task, evidence, settings }: StoryCase): readonly FieldEdit[] {
  const was = reviewOf(settings, task);
  const now = evidence.stories?.own;
  return was === null || now === undefined ? [] : differences(now, was, TAKEN_BACK);
}

/** Notes may stay: they say what was done. */
const TAKEN_BACK = ["passes", "reviewStatus", "reviewCount", "reviewFeedback"] as const;

/** How an agent says what becomes of the story, when it leaves the file alone. */
export type ReviewSignal =
  | { readonly is: "complete" }
  | { readonly is: "approved" }
  | { readonly is: "changes-requested"; readonly feedback: string };

/** Reads the text of a promise; null for one that says nothing about a review. */
export function readReviewSignal(promise: string | null, completion: string): ReviewSignal | null {
  const text = promise?.trim() ?? "";
  if (text === APPROVED) return { is: "approved" };
  if (text.startsWith(CHANGES_REQUESTED)) {
    const feedback = text.slice(CHANGES_REQUESTED.length).trim();
    return feedback === "" ? null : { is: "changes-requested", feedback };
  }
  return text !== "" && text === completion.trim() ? { is: "complete" } : null;
}

const CHANGES_REQUESTED = "CHANGES_REQUESTED:";

/**
 * What we write into the file for an agent that only gave its signal; nothing when the signal does not fit. `words`
 * are the reviewer's, for notes that are empty.
 */
export function transitionBySignal(
  mode: ReviewMode,
  story: StoryReview,
  signal: ReviewSignal,
  { cap, words }: { readonly cap: number; readonly words: string },
): readonly FieldEdit[] {
  const edits = (values: Partial<Record<ReviewField, FieldEdit["value"]>>): readonly FieldEdit[] =>
    Object.entries(values).map(([field, value]) => ({ story: story.id, field: field as ReviewField, value }));
  if (mode !== "review") {
    if (signal.is !== "complete" || !isBegun(mode, story)) return [];
    return edits({ reviewStatus: "needs_review", ...(mode === "review-fix" && { reviewFeedback: "" }) });
  }
  if (signal.is === "complete" || story.reviewStatus !== "needs_review") return [];
  const reviewCount = story.reviewCount + 1;
  if (signal.is === "changes-requested" && !isAtCap(story, cap))
    return edits({ reviewStatus: "changes_requested", reviewCount, reviewFeedback: signal.feedback });
  const said = signal.is === "approved" ? words : signal.feedback;
  const notes = approvalNotes(story, said, isAtCap(story, cap));
  return edits({
    reviewStatus: "approved",
    passes: true,
    reviewCount,
    ...(notes !== story.notes && { notes }),
    // What it was approved in spite of.
    ...(signal.is === "changes-requested" && { reviewFeedback: signal.feedback }),
  });
}

/** Whoever takes `passes` from an approved story opens it again. */
function isBegun(mode: ReviewMode, { reviewStatus, passes }: StoryReview): boolean {
  if (mode === "review-fix") return reviewStatus === "changes_requested";
  return reviewStatus === null || (reviewStatus === "approved" && !passes);
}

function approvalNotes({ notes }: StoryReview, words: string, isForced: boolean): string {
  const said = words.replaceAll(PROMISE, "").trim().slice(0, NOTES_LENGTH_MAX);
  const own = notes.trim() === "" ? said || "Approved in review." : notes;
  return isForced && !own.includes(AUTO_APPROVED) ? `${own} ${AUTO_APPROVED}` : own;
}

const PROMISE = /<promise>[^<]{0,4000}<\/promise>/g;
const NOTES_LENGTH_MAX = 2_000;
