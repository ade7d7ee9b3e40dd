/** The words around a phrase, in its sentence. */
export interface Surroundings {
  readonly before: string;
  readonly after: string;
}

const NEAR = 120;
const WORDS_NEAR = 7;

/** Cuts the surroundings of a match out of a sentence. */
export function around(sentence: string, start: number, end: number): Surroundings {
  return { before: sentence.slice(Math.max(0, start - NEAR), start), after: sentence.slice(end, end + NEAR) };
}

/** Whether a phrase is turned into its opposite: "0 tests failed", "not done yet", "remaining work: none". */
export function isDenied({ before, after }: Surroundings): boolean {
  const clause = lastClause(before);
  return NEGATION.test(clause) || NONE_OF.test(clause) || NONE_AFTER.test(after);
}

/** Whether it is only a case that is thought of: "if the tests fail", "once it is done". */
export function isHypothetical({ before }: Surroundings): boolean {
  return /\b(?:if|when|whenever|once|until|till|unless|in case|as soon as|before|whether)\b/i.test(
    lastClause(before),
  );
}

/** The words before a phrase that belong to it: behind the last comma, "and" or "but", and not too many. */
export function lastClause(before: string): string {
  const clause = before.split(/[,;—–(]|\b(?:and|but|however|although|though|while|because)\b/i).at(-1) ?? "";
  return clause
    .split(" ")
    .slice(-WORDS_NEAR - 1)
    .join(" ");
}

export const NEGATION =
  /\b(?:not|never|no|none|nothing|nobody|neither|nor|without|cannot|unable|hardly|barely|free of)\b|n['’]t\b/i;
/** A zero counts only right before what it counts. */
const NONE_OF =
  /(?:^|[\s:(=])(?:0|zero)(?:\s?\/\s?\d+|\s(?:out )?of(?: the| all)?(?: \d+)?)?(?:\s[\w-]+){0,2}\s?$/i;
const NONE_AFTER = /^[a-z]*\s*[:=]?\s*(?:0(?![\w.,]\w|\w)|none|nothing|nil|n\/a|zero|[-–—]\s*$)/i;
