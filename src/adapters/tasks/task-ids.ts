import { createHash } from "node:crypto";
import type { TaskId } from "../../core/plan/task.ts";

/** A title, and the id that stands in front of it (`**task-001**: title`) if there is one. */
export interface NamedTitle {
  readonly id: TaskId | null;
  readonly title: string;
}

export function splitTitle(text: string): NamedTitle {
  const match = /^\*\*([A-Za-z0-9][\w.-]{0,63})(?:\*\*[ \t]*:|:\*\*)[ \t]*(\S[^]*)$/.exec(text);
  const [, id, title] = match ?? [];
  return id === undefined || title === undefined ? { id: null, title: text } : { id, title };
}

/** Different ids for all, that do not change when lines are inserted above. */
export function assignIds(titles: readonly NamedTitle[]): TaskId[] {
  // Ids that somebody wrote down are theirs, wherever they stand.
  const written = new Set(titles.map(({ id }) => id).filter((id) => id !== null));
  const given = new Set<TaskId>();
  const numbers = new Map<string, number>();
  const firstFree = (name: string): TaskId => {
    let number = numbers.get(name) ?? 1;
    let candidate = numbered(name, number);
    while (given.has(candidate) || written.has(candidate)) candidate = numbered(name, (number += 1));
    numbers.set(name, number);
    return candidate;
  };
  return titles.map(({ id, title }) => {
    const chosen = id !== null && !given.has(id) ? id : firstFree(id ?? slugOf(title));
    given.add(chosen);
    return chosen;
  });
}

function numbered(name: string, number: number): TaskId {
  return number === 1 ? name : `${name}-${number}`;
}

const SLUG_LENGTH_MAX = 40;
const HASH_LENGTH = 6;

function slugOf(title: string): string {
  const plain = title.slice(0, 400).replaceAll(/\]\([^()]*\)/g, "");
  const words =
    plain
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = words.join("-");
  // What the words leave out must not make two titles one.
  const isWhole =
    slug !== "" && slug.length <= SLUG_LENGTH_MAX && title.length <= 400 && /^[\x20-\x7e]*$/.test(title);
  return isWhole ? slug : `${cutWords(words)}-${hashOf(title)}`;
}

function cutWords(words: readonly string[]): string {
  const lengthMax = SLUG_LENGTH_MAX - HASH_LENGTH - 1;
  let slug = (words[0] ?? "task").slice(0, lengthMax);
  for (const word of words.slice(1)) {
    if (slug.length + 1 + word.length > lengthMax) break;
    slug += `-${word}`;
  }
  return slug;
}

function hashOf(title: string): string {
  return createHash("sha256").update(title).digest("hex").slice(0, HASH_LENGTH);
}
