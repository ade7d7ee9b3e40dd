import type { Surroundings } from "./denial.ts";

/**
 * Whether words that sound like unfinished work are about something else: about how it was before, about people
 * and machines that the program deals with, or about what the reader does with the finished work.
 */
export function isAboutOtherMatters(phrase: string, near: Surroundings): boolean {
  if (isBeforehand(phrase, near.before)) return true;
  if (/^still /i.test(phrase)) return isLeftToPeople(near);
  if (PREDICATE.test(phrase) && (isRelative(near.before) || PEOPLE.test(near.before))) return true;
  if (/^blocked/i.test(phrase)) return MACHINES.test(near.before) || isRelation(near);
  if (/complete$/i.test(phrase)) return MACHINES.test(near.before) || isGeneralRule(near);
  if (/^(?:TODO|FIXME)/i.test(phrase))
    return TAKEN_UP.test(near.before) || isKindOfComment(near) || TICKED.test(near.after);
  if (/^(?:failing|failed|broken)/i.test(phrase)) return HANDLES.test(near.before);
  return /^tests? .*fail/i.test(phrase) && isTrial(near);
}

/** "Before my change, 2 tests fail": what comes right after such words, and before any "now" or "but". */
function isBeforehand(phrase: string, before: string): boolean {
  const rest = BEFOREHAND.exec(before)?.[1];
  return rest !== undefined && REST_OF_CLAUSE.test(rest) && !SINCE.test(rest) && !SINCE.test(phrase);
}

const BEFOREHAND =
  /^.*\b(?:before (?:my|this|the|that|these|our|any)(?: [\w-]{1,30})? (?:change|fix|patch|work|edit|commit|refactor(?:ing)?|rewrite|implementation|update|session|iteration)s?|before (?:I|we) (?:started|began|changed|fixed|touched|made|wrote|added)|prior to (?:my|this|the|that|these) [\w-]{1,30}|previously|initially|originally|formerly|at first|at the (?:start|beginning|outset)|in the beginning|to begin with|until now|without (?:my|this|the|that|these) (?:change|fix|patch|commit)s?|(?:in|during) the (?:last|previous|earlier) (?:iteration|run|loop|attempt|session|round)|last (?:time|iteration)|TDD)\b(.*)$/i;
const REST_OF_CLAUSE = /^[,:]?[^,;:—–]*$/;
const SINCE = /\b(?:now|still|but|and|however|yet|currently|after|afterwards|here|again)\b/i;

/** Phrases that need somebody before them. */
const PREDICATE = /^(?:blocked|cannot|can|could|unable|is|are|remains?)\b/i;
const AUXILIARIES =
  "(?: (?:is|are|was|were|get|gets|got|has|have|had|been|be|being|can|may|might|will|would|still|always|often|only))*\\s?$";

/** "Users who are", "an upload that"; after a comma it is only a remark, and may well be about the work. */
function isRelative(before: string): boolean {
  return RELATIVE.test(before) && !/\b(?:there (?:is|are|remains?)|(?:I|we) have|left)\b/i.test(before);
}

const RELATIVE = new RegExp(`[^,\\s] (?:who|whom|that|which)${AUXILIARIES}`, "i");
const PEOPLE = new RegExp(
  `\\b(?:users?|callers?|admins?|administrators?|customers?|visitors?|guests?|people|anyone|everyone|whoever|contributors?|developers?|subscribers?)${AUXILIARIES}`,
  "i",
);
const MACHINES = new RegExp(
  `\\b(?:requests?|responses?|calls?|threads?|event loop|browsers?|connections?|sockets?|transactions?|quer(?:y|ies)|workers?|uploads?|downloads?|handshakes?|ips?|address(?:es)?|accounts?|cookies?|pop-?ups?|messages?|packets?)${AUXILIARIES}`,
  "i",
);

/** "Users still need to log in", "You still need to set API_KEY in production": not the work, but its use. */
function isLeftToPeople({ before, after }: Surroundings): boolean {
  if (PEOPLE.test(before)) return !/^ be\b/i.test(after);
  if (!OPERATIONS_PLACE.test(before) && !OPERATIONS_PLACE.test(after)) return false;
  return YOU.test(before) ? OPERATION.test(after) : OPERATION_DONE.test(after);
}

const YOU = /\byou(?:['’]ll| will| would| may| might| do)?\s?$/i;
const OPERATION =
  /^ (?:set|configure|deploy|run|add|provide|export|restart|install|rotate|create|enable|upload|provision|apply|supply|define|put|register)\b/i;
const OPERATION_DONE = /^ be (?:set|configured|deployed|provided|exported|rotated|provisioned|enabled)\b/i;
const OPERATIONS_PLACE =
  /\b(?:production|prod|staging|(?:your|the|each|every) (?:\w{1,20} )?environments?|environment variables?|env vars?|hosting|secret store|your (?:server|machine|cluster|dashboard|deployment|account))\b/i;

/** "The parser cannot complete a partial token": any token, so it is a rule and not news. */
function isGeneralRule({ before, after }: Surroundings): boolean {
  const isOfThing = /\b(?:the|an?|each|every|any) (?:[\w-]{1,30} ){1,3}$/i.test(before);
  return isOfThing && /^ (?:an?|any|such|partial|empty|incomplete|multiple|more than)\b/i.test(after);
}

/** Trackers know tasks that block each other: "Issues can be blocked by others", "the blocked by column". */
function isRelation({ before, after }: Surroundings): boolean {
  if (
    /\b(?:(?:can|may) (?:\w{1,20} )?be|(?:marked|shown|listed) as|(?:an|a|each|any|every) [\w-]{1,30}) $/i.test(
      before,
    )
  )
    return true;
  return /^["'`]? (?:relations?|columns?|fields?|links?|labels?|lists?|flags?|badges?)\b/i.test(after);
}

/** The mark names what was done: "Implemented the …: list view". */
const TAKEN_UP =
  /\b(?:implemented|built|handled|did|closed|ticked off|checked off|dealt with|took care of|worked off)(?: (?:the|this|that|all|an?|every|each|old|last|first|remaining|your|its|two|three|both|\d{1,4})){0,4} ["'`]?$/i;

const TICKED = /^ ?as (?:done|resolved|closed|completed?)\b/i;

/** "Added a rule for …: comments". A thing that is really left stands at the beginning of a clause. */
function isKindOfComment({ before, after }: Surroundings): boolean {
  const isInSentence = /\b(?:for|of|with|like|as|the|an?|any|all|on|about|finds?) ["'`]?$/i.test(before);
  return (
    isInSentence &&
    /^["'`]? ?(?:comment|marker|line|prefix|tag|label|keyword|annotation)(?:e?s)?\b/i.test(after)
  );
}

/** "reruns failed tests" is what a program does. */
const HANDLES =
  /\b(?:re-?runs?|retr(?:y|ies)|lists|shows|reports|counts|highlights|prints|collects|groups|sorts|marks)(?: (?:only|all|the|any|its|each|every)){0,2} $/i;

/** Tests are good if they fail where they should: on the old code, or when the change is taken back. */
function isTrial({ before, after }: Surroundings): boolean {
  const rest = TRIAL.exec(before)?.[1];
  if (rest !== undefined && REST_OF_CLAUSE.test(rest) && !SINCE.test(rest)) return true;
  return OLD_CODE.test(after) || TAKEN_BACK.test(after);
}

const TRIAL =
  /^.*\b(?:(?:with|on|against|using|under) the (?:old|previous|original|unfixed|unpatched) [\w-]{1,30}|(?:if|when|once) (?:[\w-]{1,30} ){0,3}reverted|reverting [^,;:]{1,60} (?:makes|made)|ensures|guarantees|to see)\b(.*)$/i;
const OLD_CODE =
  /^[^,;:]{0,20}\b(?:with|on|against|using|under) the (?:old|previous|original|unfixed|unpatched) /i;
const TAKEN_BACK = /^[^,;:]{0,20}\b(?:if|when|once) (?:[\w-]{1,30} ){0,4}revert(?:ed|s|ing)?\b/i;
