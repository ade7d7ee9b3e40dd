import { around, isDenied, isHypothetical, lastClause, type Surroundings } from "./denial.ts";
import { sentencesOf } from "./split-sentences.ts";

/** What words suggest when nothing was said in an agreed form. They never make a claim. */
export interface Keywords {
  /** 0–90. */
  readonly confidence: number;
  readonly isTestOnly: boolean;
  readonly isStuck: boolean;
}

const COMPLETION_POINTS = 25;
const NO_WORK_POINTS = 15;
const CONFIDENCE_MAX = 90;

export function readKeywords(lines: readonly string[]): Keywords {
  const sentences = sentencesOf(lines).filter((sentence) => !sentence.endsWith("?"));
  const says = (phrase: RegExp, isMeant: (near: Surroundings) => boolean): boolean =>
    sentences.some((sentence) => isFound(sentence, phrase, isMeant));
  const completions = COMPLETION.filter((phrase) => says(phrase, meansDone)).length;
  const noWork = NO_WORK.some((phrase) => says(phrase, isPlainlySaid)) ? NO_WORK_POINTS : 0;
  return {
    confidence: Math.min(CONFIDENCE_MAX, completions * COMPLETION_POINTS + noWork),
    isTestOnly: TESTING.some((phrase) => says(phrase, isPlainlySaid)) && !says(CHANGING, isPlainlySaid),
    isStuck: STUCK.some((phrase) => says(phrase, isUnsolved)),
  };
}

/** Each counts once, however often it is said. */
const COMPLETION: readonly RegExp[] = [
  /\bdone\b(?!\(|\.\w)/gi,
  // "a complete list" says nothing about the work.
  /(?<!\b(?:an?|the|more|your|my|every) )\bcompleted?\b(?!\(|\.\w)/gi,
  /\bfinished\b/gi,
  /\ball (?:of )?(?:the )?tasks (?:are |have been |were )?(?:now )?(?:completed?|done|finished)\b/gi,
  /\bproject (?:is )?(?:now )?ready\b/gi,
  /\ball (?:of )?(?:the )?(?:requirements|acceptance criteria|criteria) (?:are |have been )?(?:now )?(?:met|satisfied|fulfilled)\b/gi,
];

const NO_WORK: readonly RegExp[] = [
  /\bnothing (?:left |more |else |further )?to (?:do|change|implement|fix)\b/gi,
  /\bno (?:code |further |more |other )?changes\b/gi,
  /\balready (?:been )?(?:fully )?(?:implemented|in place)\b/gi,
  /\bno (?:further |more )?work (?:is )?(?:left|needed|required|to do)\b/gi,
];

const TESTING: readonly RegExp[] = [
  /\b(?:bun|npm|pnpm|yarn|go|cargo|deno|mix|dotnet|make)(?: run)? tests?\b/gi,
  /\b(?:bats|pytest|jest|vitest|mocha|rspec|phpunit|ctest|playwright)\b/gi,
  /\b(?:ran|re-?ran|running|run|executed|executing) (?:all )?(?:of )?(?:the )?(?:\w+ )?tests?(?: suite)?\b/gi,
  /\b(?:all )?(?:\d+ )?tests? (?:suite )?(?:are |is )?(?:now )?(?:pass|passes|passed|passing|green)\b/gi,
];

/** Signs that something was made, not only looked at. */
const CHANGING =
  /\b(?:(?<!\balready )implement(?:ed|ing)|creat(?:ed|ing)|wrote|written|writing|add(?:ed|ing)|modif(?:ied|ying)|updat(?:ed|ing)|edit(?:ed|ing)|chang(?:ed|ing)|refactor(?:ed|ing)|fix(?:ed|ing)|remov(?:ed|ing)|renam(?:ed|ing)|replac(?:ed|ing)|rewrote|introduc(?:ed|ing)|built|committed)\b/gi;

const STUCK: readonly RegExp[] = [
  /\berrors?\b(?! (?:handling|handler|message|page|case|code|type|class|boundary|state|response|log|path|text|report)s?\b)/gi,
  /\bfail(?:ed|ing|s)\b/gi,
  // "users cannot log in twice" is about the program.
  /(?<!\b(?:users?|they|clients?|callers?|you|people|anyone|attackers?|that|which|who) )\b(?:cannot|can not|can['’]t|could not|couldn['’]t)\b/gi,
  /\bunable to\b/gi,
  /\bstuck\b/gi,
];

function isFound(sentence: string, phrase: RegExp, isMeant: (near: Surroundings) => boolean): boolean {
  for (const match of sentence.matchAll(phrase))
    if (isMeant(around(sentence, match.index, match.index + match[0].length))) return true;
  return false;
}

function isPlainlySaid(near: Surroundings): boolean {
  return !isDenied(near) && !isHypothetical(near);
}

function meansDone(near: Surroundings): boolean {
  const clause = lastClause(near.before);
  return !isPartial(near.before) && isPlainlySaid(near) && !NOT_YET.test(clause);
}

/** What is still to come, and what is not quite there. */
const NOT_YET =
  /\b(?:will|would|could|should|must|might|may|can|needs? to|have to|has to|going to|about to|want to|trying to|to be|to get|getting|almost|nearly|partially|partly|half|mostly|far from)\b|\bto\s*$/i;
/** "3/5 tasks done", "2 of 4 are complete", "80% done". */
function isPartial(before: string): boolean {
  const share = /(\d{1,9})\s?(?:\/|(?:out )?of)\s?(?:the )?(\d{1,9})(?: [\w-]+){0,2}\s*$/i.exec(before);
  if (share !== null) return Number(share[1]) < Number(share[2]);
  const percent = /(\d{1,3})(?:\.\d+)?\s?%\s*$/.exec(before);
  return percent !== null && Number(percent[1]) < 100;
}

function isUnsolved(near: Surroundings): boolean {
  if (!isPlainlySaid(near)) return false;
  return !SOLVED_BEFORE.test(lastClause(near.before)) && !SOLVED_AFTER.test(near.after);
}

const SOLVED_BEFORE =
  /\b(?:fix(?:ed|es|ing)?|resolv(?:ed|es|ing)|handl(?:ed|es|ing|e)|solv(?:ed|es|ing)|catch(?:es|ing)?|caught|return(?:s|ed|ing)?|throw(?:s|n|ing)?|threw|report(?:s|ed|ing)?|show(?:s|n|ed|ing)?|previously|formerly|earlier|that|which|no longer)\b/i;
const SOLVED_AFTER =
  /^[^.]{0,60}\b(?:(?:is|are|was|were|has been|have been) (?:now )?(?:fixed|resolved|handled|gone|solved)|now (?:pass(?:es)?|works?|succeeds?)|at first|initially|before (?:i|we|my)|but (?:i |we |then )?(?:resolved|fixed|solved|worked around))\b/i;
