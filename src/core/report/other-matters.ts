import type { Surroundings } from "./denial.ts";

/**
 * Whether words that sound like unfinished work are about something else: about how it was before, about people
 * and machines that the program deals with, or about what the reader does with the finished work.
 */
export function isAboutOtherMatters(phrase: string, near: Surroundings): boolean {
  if (isBeforehand(phrase, near.before)) return true;
  if (PREDICATE.test(phrase) && (RELATIVE.test(near.before) || PEOPLE.test(near.before))) return true;
  if (/^still /i.test(phrase)) return isLeftToReader(near);
  if (/^blocked/i.test(phrase)) return MACHINES.test(near.before);
  if (/complete$/i.test(phrase)) return MACHINES.test(near.before) || isGeneralRule(near);
  if (/^(?:TODO|FIXME)/i.test(phrase)) return TAKEN_UP.test(near.before) || isKindOfComment(near);
  return /^(?:failing|failed|broken)/i.test(phrase) && HANDLES.test(near.before);
}

/** "Before my change, 2 tests fail": what comes right after such words, and before any "now" or "but". */
function isBeforehand(phrase: string, before: string): boolean {
  const rest = BEFOREHAND.exec(before)?.[1];
  return rest !== undefined && REST_OF_CLAUSE.test(rest) && !SINCE.test(rest) && !SINCE.test(phrase);
}

const BEFOREHAND =
  /\b(?:before (?:my|this|the|that|these|our|any)(?: [\w-]{1,30})? (?:change|fix|patch|work|edit|commit|refactor(?:ing)?|rewrite|implementation|update|session|iteration)s?|before (?:I|we) (?:started|began|changed|fixed|touched|made|wrote|added)|prior to (?:my|this|the|that|these) [\w-]{1,30}|previously|initially|originally|formerly|at first|at the (?:start|beginning|outset)|in the beginning|to begin with|until now|on (?:main|master|upstream|the base branch)|without (?:my|this|the|that|these) (?:change|fix|patch|commit)s?|(?:in|during) the (?:last|previous|earlier) (?:iteration|run|loop|attempt|session|round)|last (?:time|iteration)|TDD)\b(.*)$/i;
const REST_OF_CLAUSE = /^[,:]?[^,;:—–]*$/;
const SINCE = /\b(?:now|still|but|and|however|yet|currently|after|afterwards|here|again)\b/i;

/** Phrases that need somebody before them. */
const PREDICATE = /^(?:blocked|cannot|can|could|unable|still|is|are|remains?)\b/i;
const AUXILIARIES =
  "(?: (?:is|are|was|were|get|gets|got|has|have|had|been|be|being|can|may|might|will|would|still|always|often|only))*\\s?$";
/** "Users who are", "an upload that"; after a comma it is only a remark, and may well be about the work. */
const RELATIVE = new RegExp(`[^,\\s] (?:who|whom|that|which)${AUXILIARIES}`, "i");
const PEOPLE = new RegExp(
  `\\b(?:users?|callers?|admins?|administrators?|customers?|visitors?|operators?|members?|guests?|players?|people|anyone|everyone|whoever|contributors?|developers?|readers?|subscribers?)${AUXILIARIES}`,
  "i",
);
const MACHINES = new RegExp(
  `\\b(?:requests?|responses?|calls?|threads?|event loop|ui|clients?|browsers?|connections?|sockets?|transactions?|quer(?:y|ies)|readers?|writers?|workers?|uploads?|downloads?|handshakes?|ips?|address(?:es)?|accounts?|cookies?|pop-?ups?|scripts?|messages?|packets?)${AUXILIARIES}`,
  "i",
);

/** "You still need to set API_KEY in production": not the work, but its use. */
function isLeftToReader({ before, after }: Surroundings): boolean {
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

/** "Implemented the TODO: list view". */
const TAKEN_UP =
  /\b(?:implemented|built|handled|did|closed|ticked off|checked off|dealt with|took care of|worked off)(?: (?:the|this|that|all|an?|every|each|old|last|first|remaining|your|its|two|three|both|\d{1,4})){0,4} ["'`]?$/i;

/** "Added a rule for TODO: comments". A thing that is really left stands at the beginning of a clause. */
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
