import { plainTask, type Task } from "../../src/core/plan.ts";
import { RalphError } from "../../src/core/errors.ts";
import {
  AUTO_APPROVED,
  hasReviewFields,
  type StoryReview,
  readStories,
} from "../../src/core/review/story-review.ts";

/** What is kept of a list while an agent works; it outlives the process. */
export interface Guarded<Version> {
  kept: Version | null;
  /** What the agent made of it. */
  seen: Version | null;
}

/** A story as it stands in the file; an agent may have written anything. */
export type RawStory = Record<string, unknown>;

export const UNTOUCHED_STORY = {
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: "",
  notes: "",
} as const satisfies RawStory;

/** The simulated `tasks.json`: a text, or nothing when somebody has removed it. */
export class StoryFile {
  readonly guarded: Guarded<string> = { kept: null, seen: null };
  readonly cap: number;
  #text: string | null = textOf([]);
  #trusted = this.#text;
  /** The stories as the operator first wrote them. */
  readonly begun = new Map<string, StoryReview>();

  constructor(cap: number) {
    this.cap = cap;
  }

  get text(): string | null {
    return this.#text;
  }

  /** By us, or by a person. */
  write(text: string | null): void {
    this.#text = text;
    this.#trusted = text;
  }

  /** By an agent. */
  scrawl(text: string | null): void {
    this.#text = text;
  }

  /** A person takes back what agents have made of it since somebody else last wrote it. */
  repair(): void {
    this.#text = this.#trusted;
  }

  add(story: RawStory): void {
    // Whoever adds one has not looked at what an agent is making of the others.
    this.#text = withStory(this.#text, story);
    this.#trusted = withStory(this.#trusted, story);
    this.guarded.kept = withStory(this.guarded.kept, story);
    const [read] = readStories({ userStories: [story] }).stories;
    if (read !== undefined) this.begun.set(read.id, read);
  }

  /** An agent's change of one story; nothing where there is none to change. */
  alter(id: string, change: RawStory): void {
    const raw = this.raw();
    if (raw !== undefined)
      this.scrawl(textOf(raw.map((story) => (story["id"] === id ? { ...story, ...change } : story))));
  }

  parsed(): unknown {
    return parsedText(this.#text);
  }

  /** The list of stories, or undefined when it cannot be found. */
  raw(): readonly RawStory[] | undefined {
    return rawIn(this.#text);
  }

  reviews(): readonly StoryReview[] {
    return readStories(this.parsed()).stories;
  }

  review(id: string): StoryReview | undefined {
    return this.reviews().find((story) => story.id === id);
  }

  isAutoApproved(id: string): boolean {
    const review = this.review(id);
    return review?.passes === true && review.notes.includes(AUTO_APPROVED);
  }

  /** What the file shows; throws when it cannot be worked on. */
  tasks(): Task[] {
    if (this.#text === null) throw new RalphError("no-tasks", "tasks.json does not exist");
    const raw = this.raw() ?? unusable("there is no list of stories");
    const ids = raw.map(({ id }) => id);
    if (new Set(ids).size !== ids.length) unusable("an id is used twice");
    const reviews = this.reviews();
    const isReviewed = hasReviewFields(reviews);
    return raw.map(({ id, title, dependsOn = [], passes }) => {
      const review = reviews.find((one) => one.id === id);
      if (typeof id !== "string" || typeof title !== "string" || title === "" || review === undefined)
        return unusable("a story without id or title");
      const needed = Array.isArray(dependsOn) ? dependsOn.map(String) : [];
      if (needed.some((one) => !ids.includes(one))) unusable(`${id} depends on what is not there`);
      const task = plainTask({ id, title, dependsOn: needed, done: passes === true });
      return isReviewed ? { ...task, review } : task;
    });
  }
}

export function textOf(userStories: readonly RawStory[]): string {
  return JSON.stringify({ project: "simulated", userStories });
}

function withStory(text: string | null, story: RawStory): string | null {
  const raw = rawIn(text);
  return raw === undefined ? text : textOf([...raw, story]);
}

export function rawIn(text: string | null): readonly RawStory[] | undefined {
  const file = parsedText(text);
  const list = isObject(file) ? file["userStories"] : undefined;
  return Array.isArray(list) && list.every(isObject) ? list : undefined;
}

export function parsedText(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined; // which is how the port says that it cannot be read
  }
}

function unusable(problem: string): never {
  throw new RalphError("bad-tasks", `tasks.json: ${problem}`);
}

function isObject(value: unknown): value is RawStory {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
