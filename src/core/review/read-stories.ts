import { fieldsOf, isFields, listOf, type Fields } from "../report/streams/json-fields.ts";
import { shown, storyName, type StoryProblem, type StoryRule } from "./story-problem.ts";
import { UNTOUCHED, type ReviewStatus, type StoryBefore, type StoryReview } from "./story-review.ts";

export interface ReadStories {
  /** Those that have an id; what is wrong in one counts as missing. */
  readonly stories: readonly StoryReview[];
  readonly problems: readonly StoryProblem[];
}

/** Reads a `tasks.json` that was parsed, and checks its form. What is missing or null is as in an untouched story. */
export function readStories(file: unknown): ReadStories {
  const problems: StoryProblem[] = [];
  const say = (story: string | null, field: string, what: string, rule: StoryRule = "schema"): void => {
    const where = story === null ? "" : `${storyName(story)}: `;
    problems.push({ story, field, rule, sentence: `${where}${what}` });
  };
  if (!isFields(file)) {
    say(null, "userStories", 'expected an object with "userStories"');
    return { stories: [], problems };
  }
  for (const [field, kind] of Object.entries(FILE_FIELDS)) {
    if (!isOf(kind, file[field])) say(null, field, `${field} ${mustBe(kind, file[field])}`);
  }
  if (!Array.isArray(file["userStories"])) say(null, "userStories", "userStories must be a list of stories");
  const stories = new Map<string, StoryReview>();
  for (const [at, story] of listOf(file["userStories"]).entries()) {
    const id = idOf(story);
    if (id === null) {
      const what = isFields(story) ? '"id" must be a text that is not empty' : "must be an object";
      say(null, "id", `userStories[${at}]: ${what}`);
      continue;
    }
    for (const [field, what] of wrongIn(fieldsOf(story))) say(id, field, `${field} ${what}`);
    if (stories.has(id)) say(id, "id", "this id is a duplicate; every story needs its own", "unique-ids");
    else stories.set(id, { ...stateOf(id, fieldsOf(story)), ...wordsOf(fieldsOf(story)) });
  }
  return { stories: [...stories.values()], problems };
}

/** Reads a snapshot; null when there is none. */
export function readSnapshot(value: unknown): readonly StoryBefore[] | null {
  return isFields(value) ? Object.entries(value).map(([id, story]) => stateOf(id, fieldsOf(story))) : null;
}

type Kind = "text" | "number" | "yes or no" | "texts" | "count" | "status";

const FILE_FIELDS: Readonly<Record<string, Kind>> = {
  project: "text",
  branchName: "text",
  description: "text",
  verifyCommands: "texts",
};

const STORY_FIELDS: Readonly<Record<string, Kind>> = {
  title: "text",
  description: "text",
  acceptanceCriteria: "texts",
  dependsOn: "texts",
  labels: "texts",
  priority: "number",
  passes: "yes or no",
  reviewStatus: "status",
  reviewCount: "count",
  reviewFeedback: "text",
  notes: "text",
};

const WANTED: Readonly<Record<Kind, string>> = {
  text: "a text",
  number: "a number",
  "yes or no": "true or false",
  texts: "a list of texts",
  count: "a whole number",
  status: 'null, "needs_review", "changes_requested" or "approved"',
};

function* wrongIn(story: Fields): Generator<readonly [field: string, what: string]> {
  const { title } = story;
  if (title === undefined || title === null || title === "") yield ["title", "is missing"];
  for (const [field, kind] of Object.entries(STORY_FIELDS)) {
    if (!isOf(kind, story[field])) yield [field, mustBe(kind, story[field])];
  }
}

function mustBe(kind: Kind, value: unknown): string {
  return `must be ${WANTED[kind]}, not ${shown(value)}`;
}

function isOf(kind: Kind, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "yes or no":
      return typeof value === "boolean";
    case "texts":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "count":
      return Number.isSafeInteger(value);
    default:
      return STATUSES.some((status) => status === value);
  }
}

const STATUSES: readonly ReviewStatus[] = ["needs_review", "changes_requested", "approved"];

function idOf(story: unknown): string | null {
  const { id } = fieldsOf(story);
  if (typeof id === "number") return String(id);
  return typeof id === "string" && id.trim() !== "" ? id : null;
}

function stateOf(id: string, story: Fields): StoryBefore {
  const { passes, reviewStatus, reviewCount } = story;
  return {
    id,
    passes: passes === true,
    reviewStatus: STATUSES.find((status) => status === reviewStatus) ?? UNTOUCHED.reviewStatus,
    reviewCount: Number.isSafeInteger(reviewCount) ? (reviewCount as number) : UNTOUCHED.reviewCount,
  };
}

function wordsOf(story: Fields): Pick<StoryReview, "reviewFeedback" | "notes" | "hasReviewFields"> {
  const { reviewFeedback, notes } = story;
  return {
    reviewFeedback: typeof reviewFeedback === "string" ? reviewFeedback : UNTOUCHED.reviewFeedback,
    notes: typeof notes === "string" ? notes : UNTOUCHED.notes,
    hasReviewFields: "reviewStatus" in story || "reviewCount" in story,
  };
}
