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
