import { CONFESSIONS, isMeant, type Confession } from "./confessions.ts";
import { around, isDenied, isHypothetical, lastClause, NEGATION, type Surroundings } from "./denial.ts";
import { isAboutOtherMatters } from "./other-matters.ts";
import { sentencesOf } from "./split-sentences.ts";

const SENTENCES_MAX = 20;
const SENTENCE_LENGTH_MAX = 300;

/** Sentences in which the agent says that the work is not done after all, in their order, each once. */
export function findContradictions(lines: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const sentence of sentencesOf(lines)) {
    const at = placeOfContradiction(sentence);
    if (at === null) continue;
    const from = Math.max(0, Math.min(at - SENTENCE_LENGTH_MAX / 2, sentence.length - SENTENCE_LENGTH_MAX));
    found.add(sentence.slice(from, from + SENTENCE_LENGTH_MAX).toWellFormed());
    if (found.size === SENTENCES_MAX) break;
  }
  return [...found];
}

const PHRASES: readonly RegExp[] = [
  /\b(?:TODO|FIXME)(?:\([^()]{0,40}\))?:/g,
  /^\W{0,10}(?:todo|fixme):/gi,
  /\bnot (?:been )?yet (?:been )?implemented\b|(?:\bnot|n['’]t)(?: been)? implemented yet\b/gi,
  /\bstill needs? to\b|\bstill (?:have|has) to\b/gi,
  /\bremaining work\b|\bwork (?:still )?remain(?:s|ing)\b/gi,
  /\bblocked by\b/gi,
  /\b(?:cannot|can not|can['’]t|could not|couldn['’]t|unable to) complete\b/gi,
  /\btests?(?: (?:suites?|runs?|cases?|are|is|were|was|still|do|does|did|all|also|now|currently|have|has|keep|kept|not|never|no|longer|don['’]t|doesn['’]t|didn['’]t|aren['’]t|isn['’]t|will|can|may|continue|to))* fail(?:s|ed|ing|ures?)?\b/gi,
  /\b(?:failing|failed|broken) (?:(?:unit|integration|e2e|end-to-end) )?tests?\b/gi,
  /\btests?: ?[1-9]\d* fail(?:ed|ing|ures?)\b|(?<![\w.])[1-9]\d* failed, \d+ passed\b/gi,
];

const ALL: readonly Confession[] = [...PHRASES.map((says) => ({ says })), ...CONFESSIONS];

function placeOfContradiction(sentence: string): number | null {
  for (const confession of ALL) {
    for (const match of sentence.matchAll(confession.says)) {
      const near = around(sentence, match.index, match.index + match[0].length);
      if (isMeant(confession, near) && !isHarmless(match[0], near)) return match.index;
    }
  }
  return null;
}

function isHarmless(phrase: string, near: Surroundings): boolean {
  const clause = lastClause(near.before);
  // "could not fix the failing tests": the two cancel each other out.
  const isUnresolved = NEGATION.test(clause) && RESOLVING.test(clause);
  if (isUnresolved) return false;
  if (isDenied(near) || isHypothetical(near) || isQuoted(near)) return true;
  if (isAboutOtherMatters(phrase, near)) return true;
  if (RESOLVED_BEFORE.test(clause) || RESOLVED_AFTER.test(near.after)) return true;
  if (/^(?:TODO|FIXME)/i.test(phrase)) return NEGATION.test(near.before) || RESOLVED_BEFORE.test(near.before);
  return /^tests?\b.*\bfail/i.test(phrase) && DENIED_INSIDE.test(phrase);
}

/** Somebody else's words: the message "not yet implemented". */
function isQuoted({ before, after }: Surroundings): boolean {
  return /["'`“]$/.test(before) && /^["'`”]/.test(after);
}

const DENIED_INSIDE = /\b(?:not|never|no longer)\b|n['’]t\b/i;
const RESOLVING = /\b(?:fix|resolve|remove|address|repair|solve|clear|replace|finish|get rid of)(?:e?d)?\b/i;
const RESOLVED_BEFORE =
  /\b(?:fixed|resolved|removed|addressed|cleared|deleted|replaced|eliminated|repaired|solved|finished|completed|did|done|previously|formerly|originally|initially|used to|earlier|at first|no longer|fixes|removes|resolves|replaces|unblocked)\b/i;
const RESOLVED_AFTER =
  /^ (?:first|(?:is|are) (?:now |all )?green)\b|^[^.]{0,80}\b(?:now pass(?:es|ing)?|(?:all|they|then|and) pass(?:es)?|made (?:it|them|this) pass|(?:is|are|was|were|has been|have been) (?:now |all )?(?:fixed|resolved|done|removed|addressed|gone|completed?|finished)|as expected|at first|initially|on purpose|intentionally|deliberately|by design|tdd|in the (?:last|previous|earlier) (?:iteration|run|attempt|session)|then (?:i|we) (?:implemented|fixed|wrote|made|added)|before (?:i|we|my|that|this|the)|without (?:the|this|my|that) (?:fix|change|patch)|but (?:i |we |then )?(?:resolved|fixed|solved|worked around))\b/i;
