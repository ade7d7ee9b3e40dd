import type { Surroundings } from "./denial.ts";

/** Words with which an agent owns up that its work is not done. */
export interface Confession {
  readonly says: RegExp;
  /** Words before or after it in its sentence that show that it is none. */
  readonly unlessBefore?: RegExp;
  readonly unlessAfter?: RegExp;
}

export function isMeant({ unlessBefore, unlessAfter }: Confession, { before, after }: Surroundings): boolean {
  return unlessBefore?.test(before) !== true && unlessAfter?.test(after) !== true;
}

const NOT_DONE =
  "(?:n['’]t| not| still not)(?: (?:yet|quite|fully|entirely|completely|all))* (?:done|finished|completed?)";
const STILL_NOT_DONE =
  "(?: still not(?: (?:quite|fully|entirely|completely))?|(?: not|n['’]t) yet(?: (?:quite|fully|entirely|completely))?) (?:done|finished|completed?)";
const NOT_DONE_YET =
  "(?: not|n['’]t)(?: (?:quite|fully|entirely|completely))? (?:done|finished|completed?) yet";
/** "not done until …" states a rule, "not finished when the event fires" a fact about the program. */
const CONDITION = /^(?: yet)?,? (?:until|unless|before|without|when|whenever|while|if|as long as|after)\b/i;
/** "The work is not done in the main thread" tells where, not whether. */
const MANNER = /^ (?:by|in|on|at|with|twice|via|through|inside|manually|again|every|each|lazily|eagerly)\b/i;
const CONDITION_OR_MANNER = new RegExp(`${CONDITION.source}|${MANNER.source}`, "i");
/** "It prints that the task is not done yet." */
const PROGRAM_SAYS =
  /\b(?:shows|prints|returns|reports|displays|logs|says|tells|means|warns|checks|throws|asserts|verifies|detects|indicates|while|whether)\b(?: [\w-]{1,30}){0,4} ?$/i;
const CAN_NOT =
  "(?:cannot|can not|can['’]t|could not|couldn['’]t|unable to|not able to|(?:did not|didn['’]t) manage to|failed to)";
const MADE = "(?:implemented|finished|completed|did|done|wrote|built|ported|migrated)";
const PART =
  "(?:the first half|(?:about |roughly )?half|(?:a |the first )?parts? of (?:it|(?:the|this) (?:work|feature|task|story)))";
/** One task at a time is how it should be. */
const OTHER_TASKS = /\b(?:tasks|stories|items|iterations?|loops?)\b/i;
/** Who stubs out something in a test does what tests do. */
const STUBBED_IN_TEST =
  /\b(?:in|by|for|within|during|so) (?:(?:the|all|its|my|our|these|every|each|unit|new|integration|e2e) ){0,3}(?:tests?|specs?|suites?)\b|\b(?:mock|fake|fixture|(?:development|dev|offline|demo|dry[- ]run|ci)\b)/i;
const STUBBED_WORLD =
  /\b(?:network|clock|timers?|fetch|date|time|randomness|file ?system|http)(?: \w{1,20})? ?$/i;

export const CONFESSIONS: readonly Confession[] = [
  {
    says: new RegExp(`\\b(?:I am|I['’]m|we are|we['’]re|we aren(?=['’]t))${NOT_DONE}\\b`, "gi"),
    unlessBefore: PROGRAM_SAYS,
    unlessAfter: CONDITION,
  },
  {
    says: /\b(?:I|we) (?:(?:have not|haven['’]t)(?: yet)? (?:finished|completed)|(?:did not|didn['’]t) (?:finish|complete))\b/gi,
    unlessAfter: /^ (?:early|late|there|until|with an?)\b|\b(?:optional|stretch|bonus)\b/i,
  },
  {
    says: new RegExp(
      `\\b(?:the|this|my|our)(?: [\\w-]{1,30}){0,2} (?:feature|task|work|implementation|story|assignment|refactoring|rewrite) (?:is|are)${NOT_DONE}\\b`,
      "gi",
    ),
    unlessBefore: PROGRAM_SAYS,
    unlessAfter: CONDITION_OR_MANNER,
  },
  { says: /^\W{0,6}(?:still )?not (?:done|finished|complete) yet\W{0,3}$/gi },
  {
    // What "it" stands for is the work only where a clause begins with it.
    says: new RegExp(
      `(?<=^\\W{0,6}|[,;:—–(] ?|\\b(?:but|and|so|note that) )(?:this|it|that|everything|all of (?:it|this))(?: is|['’]s)(?:${STILL_NOT_DONE}|${NOT_DONE_YET})\\b`,
      "gi",
    ),
    unlessBefore: PROGRAM_SAYS,
    unlessAfter: CONDITION_OR_MANNER,
  },
  {
    says: new RegExp(
      `\\b${CAN_NOT} (?:get|make)(?: [\\w-]{1,30}){0,4} (?:tests?|suites?|specs?|build|ci|checks?)(?: to)? (?:pass(?:ing)?|work(?:ing)?|compile|run|succeed|(?:go |be |turn )?green)\\b`,
      "gi",
    ),
    unlessAfter: /^ (?:until|before|without)\b/i,
  },
  {
    says: /\btests? (?:still )?(?:do not|don['’]t|does not|doesn['’]t)(?: yet| all)? pass(?= ?(?:[.,;:!)]|$)| (?:yet|on|because|currently|either)\b)/gi,
  },
  {
    says: new RegExp(
      `\\b(?:I|we)(?: have|['’]ve)? (?:(?:so far )?only ${MADE}|${MADE} only) ${PART}\\b`,
      "gi",
    ),
    unlessAfter: new RegExp(
      `${OTHER_TASKS.source}|\\b(?:myself|by hand|as (?:asked|requested|planned|instructed))\\b`,
      "i",
    ),
  },
  {
    says: /\bthe (?:rest|remainder|(?:other|second|remaining) (?:half|parts?)) will follow(?= ?(?:[.!,;)]|$)| (?:later|soon|next|tomorrow)\b)/gi,
    unlessBefore: OTHER_TASKS,
    unlessAfter: OTHER_TASKS,
  },
  {
    says: /\b(?:is|are|remains?) (?:(?:still|currently|only|just|now|all|simply) )?stubbed out\b|\b(?:still|only|just|merely|currently) a stub\b(?! (?:server|file|class|module|object|process))|\bstubbed(?: out)?(?: [^\s.,;]{1,40}){0,4} for now\b/gi,
    unlessBefore: new RegExp(`${STUBBED_IN_TEST.source}|${STUBBED_WORLD.source}`, "i"),
    unlessAfter: STUBBED_IN_TEST,
  },
];
