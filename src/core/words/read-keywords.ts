const COMPLETION_POINTS = 25;
const NO_WORK_POINTS = 15;
const CONFIDENCE_MAX = 90;

/** What words suggest when nothing was said in an agreed form. They never make a claim. */
export function readKeywords(lines: readonly string[]) {
  const sentences = sentencesOf(lines).filter((sentence) => !sentence.endsWith("?"));
  const says = (phrase: RegExp, isMeant: (place: Place) => boolean): boolean =>
    sentences.some((sentence) => placesOf(sentence, phrase).some(isMeant));
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

function meansDone(place: Place): boolean {
  return !isPartial(place.before) && isPlainlySaid(place) && !NOT_YET.test(place.clause);
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

function isUnsolved(place: Place): boolean {
  return isPlainlySaid(place) && !SOLVED_BEFORE.test(place.clause) && !SOLVED_AFTER.test(place.after);
}

const SOLVED_BEFORE =
  /\b(?:fix(?:ed|es|ing)?|resolv(?:ed|es|ing)|handl(?:ed|es|ing|e)|solv(?:ed|es|ing)|catch(?:es|ing)?|caught|return(?:s|ed|ing)?|throw(?:s|n|ing)?|threw|report(?:s|ed|ing)?|show(?:s|n|ed|ing)?|previously|formerly|earlier|that|which|no longer)\b/i;
const SOLVED_AFTER =
  /^[^.]{0,60}\b(?:(?:is|are|was|were|has been|have been) (?:now )?(?:fixed|resolved|handled|gone|solved)|now (?:pass(?:es)?|works?|succeeds?)|at first|initially|before (?:i|we|my)|but (?:i |we |then )?(?:resolved|fixed|solved|worked around))\b/i;

const LINES_MAX = 40;
const SENTENCES_MAX = 20;
const SENTENCE_LENGTH_MAX = 300;

/**
 * Sentences at the end of a text that speak of open work or of failure, in their order, each once. They only name a
 * concern that somebody else settles, so a few rules are enough.
 */
export function findWordsAgainst(prose: readonly string[]): readonly string[] {
  const sentences = sentencesOf(lastLines(prose));
  const lastGreen = sentences.findLastIndex((sentence) => placesOf(sentence, GREEN).some(isPlainlySaid));
  const found = new Set<string>();
  for (const [index, sentence] of sentences.entries()) {
    // The last word on the tests counts: they were red before the work, and are green after it.
    const lists = index < lastGreen ? [THINGS, STATEMENTS] : [THINGS, STATEMENTS, FAILURES];
    const place = findPlace(sentence, lists);
    if (place === undefined) continue;
    const latest = Math.max(0, sentence.length - SENTENCE_LENGTH_MAX);
    const from = Math.min(Math.max(0, place.at - SENTENCE_LENGTH_MAX / 2), latest);
    found.add(sentence.slice(from, from + SENTENCE_LENGTH_MAX).toWellFormed());
  }
  return [...found].slice(0, SENTENCES_MAX);
}

function lastLines(lines: readonly string[]): readonly string[] {
  const said = lines.flatMap((line, index) => (line.trim() === "" ? [] : [index]));
  return lines.slice(said.at(-LINES_MAX) ?? 0);
}

const NOT = "(?:\\bnot|n['’]t)";
const CAN_NOT =
  "(?:cannot|can not|can['’]t|could not|couldn['’]t|unable to|not able to|wasn['’]t able to|did(?: not|n['’]t) manage to|failed to)";
const CLAUSE_END = " ?(?:[.,;:!)]|$)";
const LATER = "(?:later|next|soon|tomorrow|in (?:a|the) (?:later|next))\\b";

/** Things that are left; who removed or did them has none left. */
const THINGS: readonly RegExp[] = [
  /\b(?:TODO|FIXME)(?:\([^()]{0,40}\))?:/g,
  /^\W{0,10}(?:todo|fixme):/gi,
  /\bremaining work\b|\bwork (?:still )?remain(?:s|ing)\b|\bwork in progress\b/gi,
  /\bplaceholder (?:code|data|for now|function|implementation|logic|values?)\b/gi,
  /\b(?:a|as|are|is|just|only) placeholders?(?= (?:for|that|until)\b| ?[.,;!)]|$)/gi,
];

/** What somebody says of the work. */
const STATEMENTS: readonly RegExp[] = [
  new RegExp(
    `${NOT}(?: (?:been|quite|fully|entirely|completely|all))* (?:done|finish(?:ed)?|completed?|implemented|working)(?= (?:all|it|that|the|this|with the|yet)\\b|${CLAUSE_END})`,
    "gi",
  ),
  new RegExp(`${NOT}(?: been)? yet(?: \\w+)? (?:done|finished|completed?|implemented|working)\\b`, "gi"),
  new RegExp(`${NOT}(?: been| really)? \\w+(?:ed|en|de) yet\\b`, "gi"),
  /\bstill (?:needs?|have|has) to\b|\bstill (?:missing|incomplete|unfinished|reports? errors)\b/gi,
  new RegExp(`\\b(?:is|are) missing(?=${CLAUSE_END})`, "gi"),
  /\b(?:partially|partly|half) (?:completed?|done|finished|implemented)\b/gi,
  /\b(?:I|we)\b[^.;]{1,30}\bonly\b[^.;]{1,30}\b(?:half|parts? of)\b/gi,
  new RegExp(
    `\\b(?:rest|half|parts?) will follow(?=${CLAUSE_END})|\\bwill (?:follow|be \\w+ed) ${LATER}`,
    "gi",
  ),
  /(?:\b(?:am|are|is)|['’](?:m|re|s))(?: still| currently)? blocked by\b/gi,
  new RegExp(
    `\\b(?:I|we)(?: (?:also|am|still|was|were))* ${CAN_NOT} |\\b${CAN_NOT} (?:complete|finish|fix)\\b`,
    "gi",
  ),
  new RegExp(
    `\\bdo(?:es)?(?: not|n['’]t)(?: \\w+)? (?:build|compile|pass|work)(?= (?:at|because|either|for|on|with|yet)\\b|${CLAUSE_END})`,
    "gi",
  ),
  /\b(?:is|are|only|just|still)(?: a| all| currently)? stub(?:s|bed(?: out)?)?\b(?! \w+er\b)/gi,
  /\bleft\b[^.;]{1,40}\bfor later\b/gi,
  /\b(?:commented out|disabled|hard-?coded|left out|omitted|skipped|stubbed)\b.{0,40}\bfor now\b/gi,
];

const FAILURES: readonly RegExp[] = [
  /\btests?(?: (?!(?:for|never|no|not|of|that|which|with)\b)\w+){0,3} fail(?:s|ed|ing|ures?)?\b/gi,
  /\b(?:failing|failed|broken) (?:[\w-]+ )?tests?\b|\b(?:build|suite|tests?) (?:is|are) (?:still )?(?:broken|red)\b/gi,
  /(?<![\w.])[1-9]\d* (?:failed|failing|failures?)(?= ?(?:[.,;:!)=]|$)| in\b)|\bfailures?[:=] ?[1-9]/gi,
];

const GREEN =
  /(?<!\b(?:other|remaining) )\b(?:all|tests?|suite|they)(?: (?!(?:other|remaining|should|would)\b)\w+){0,3} (?:pass(?:es|ed|ing)?|green)\b|^(?!.*\bfail)\W*(?:tests?:? )?[1-9]\d* (?:tests? )?pass(?:ed|ing)\b|\b0 fail(?:ed|ing|ures?)\b|\bfail 0$/gi;

function findPlace(sentence: string, lists: readonly (readonly RegExp[])[]): Place | undefined {
  for (const list of lists)
    for (const phrase of list)
      for (const place of placesOf(sentence, phrase))
        if (
          isPlainlySaid(place) &&
          !isOtherMatter(place) &&
          (list === STATEMENTS || !(DONE_BEFORE.test(place.clause) || DONE_AFTER.test(place.after)))
        )
          return place;
  return undefined;
}

/** It is quoted, or was so once, or is about people and things that the program deals with. */
function isOtherMatter({ before, phrase, after }: Place): boolean {
  if (['"', "`"].some((mark) => before.split(mark).length % 2 === 0)) return true;
  if (PAST.test(before) || PAST_AFTER.test(after)) return true;
  if (/failed$/i.test(phrase) && /^ (?:because|due to|since)\b/i.test(after)) return true;
  if (/stub/i.test(phrase)) return /\b(?:tests?|specs?|suite|mock|fake)\b/i.test(before + after);
  if (PEOPLE.test(before)) return !/^ (?:complete|finish|fix|implement|write)\b/i.test(after);
  return /[^,\s] (?:that|which|who)(?: \w+)? ?$/i.test(before) && !/\bthere (?:is|are)\b/i.test(before);
}

const PAST =
  /\b(?:before (?:I|my|that|the|this|we)|at first|at the start|earlier|formerly|initially|last (?:iteration|run|time)|old|on purpose|original|originally|previous|previously|prior to|revert\w*|root cause|TDD|until now|used to|without (?:my|that|the|this))\b(?!.*\b(?:but|currently|now|still)\b)/i;
const PAST_AFTER =
  /^[^;]{0,60}\b(?:as expected|at first|before (?:I|my|that|the|this|we)|first\b|in the (?:last|previous)|initially|on purpose|revert\w*|the (?:old|original|previous)|until (?:I|we)|without (?:my|that|the|this))\b/i;
const PEOPLE =
  /\b(?:admins?|anyone|callers?|clients?|customers?|everyone|people|they|users?|visitors?|you)(?:['’]ll| \w+)? ?$/i;

const DONE_BEFORE =
  /\b(?:did|done|(?:address|clear|clos|complet|delet|eliminat|finish|fix|handl|implement|remov|repair|replac|resolv|solv)e[ds])\b/i;
const DONE_AFTER =
  /^(?: \w+){0,3} (?:pass(?:es)?|green|fixed|resolved|done|gone|removed|addressed|finished|completed?)\b|^.{0,60}\b(?:all|they)(?: \w+){0,3} pass\b/i;

/** Lines that an agent wrote as text: no diff, no indented code. A bullet is text, a removed line of code is not. */
export function proseOf(lines: readonly string[]): readonly string[] {
  let block: "text" | "code" | "hunk" = "text";
  let wasBlank = true;
  return lines.filter((line) => {
    const isBlank = line.trim() === "";
    if (HUNK.test(line)) block = "hunk";
    else if (block === "hunk") block = /^[-+ \\]/.test(line) ? "hunk" : "text";
    else if (!isBlank) block = INDENTED.test(line) && (wasBlank || block === "code") ? "code" : "text";
    wasBlank = isBlank;
    return isBlank || (block === "text" && !CHANGED_LINE.test(line));
  });
}

const HUNK = /^(?:@@ |diff --git |--- a\/|\+\+\+ b\/)/;
const CHANGED_LINE = /^(?:[-+](?![-+]*$)(?:[^\s-]|\s{2,}|\s?(?:\/\/|\/\*|#|<!--)))/;
const INDENTED = /^(?: {4}|\t)(?!\s*(?:[-*+•]|\d{1,3}[.)]) )/;

/** Lines of prose as paragraphs: a line that only continues the one before it is joined to it. */
export function paragraphsOf(lines: readonly string[]): readonly string[] {
  const paragraphs: string[][] = [];
  let previous = "";
  for (const raw of lines) {
    const line = raw.trim().replaceAll(/\s+/g, " ");
    const last = paragraphs.at(-1);
    if (last !== undefined && previous !== "" && continues(line, previous)) last.push(line);
    else if (line !== "") paragraphs.push([line]);
    previous = line;
  }
  return paragraphs.map((parts) => parts.join(" "));
}

function sentencesOf(lines: readonly string[]): readonly string[] {
  return paragraphsOf(lines)
    .flatMap((paragraph) => paragraph.split(SENTENCE_END))
    .filter((sentence) => /[A-Za-z]{2}/.test(sentence));
}

/** Logs have unrelated lines below each other, so only what looks like a broken line counts as one. */
function continues(line: string, previous: string): boolean {
  return /^[\p{Ll}`"'(]/u.test(line) && !/[.!?:;|]$/.test(previous) && !/^(?:#|```)/.test(previous);
}

/** The mark stays with its sentence; a dot inside a name or a number is none. */
const SENTENCE_END = /(?<=[.!?…]["')*_]?) /;

/** A phrase in its sentence. */
export interface Place {
  readonly at: number;
  readonly phrase: string;
  readonly before: string;
  readonly after: string;
  /** The words before it that belong to it: behind the last comma, "and" or "but", and not too many. */
  readonly clause: string;
}

const NEAR = 120;
const CLAUSE_WORDS = 8;

/** Where a sentence has a phrase. The phrase is a global expression. */
export function placesOf(sentence: string, phrase: RegExp): readonly Place[] {
  return Array.from(sentence.matchAll(phrase), ({ 0: found, index: at }) => {
    const before = sentence.slice(Math.max(0, at - NEAR), at);
    const after = sentence.slice(at + found.length, at + found.length + NEAR);
    const clause = before.split(CLAUSE_START).at(-1) ?? "";
    return { at, phrase: found, before, after, clause: clause.split(" ").slice(-CLAUSE_WORDS).join(" ") };
  });
}

const CLAUSE_START = /[,;—–(]|\b(?:and|but|however|although|though|while|because)\b/i;

/** Whether a phrase is said and meant: not "0 tests failed", not "if the tests fail". */
function isPlainlySaid({ clause, after }: Place): boolean {
  return (
    !NEGATION.test(clause) && !NONE_OF.test(clause) && !CONDITION.test(clause) && !NONE_AFTER.test(after)
  );
}

const NEGATION =
  /\b(?:not|never|no|none|nothing|nobody|neither|nor|without|cannot|unable|hardly|barely|free of)\b|n['’]t\b/i;
const CONDITION = /\b(?:if|when|whenever|once|until|till|unless|in case|as soon as|before|whether)\b/i;
/** A zero counts only right before what it counts. */
const NONE_OF =
  /(?:^|[\s:(=])(?:0|zero)(?:\s?\/\s?\d+|\s(?:out )?of(?: the| all)?(?: \d+)?)?(?:\s[\w-]+){0,2}\s?$/i;
const NONE_AFTER = /^[a-z]*\s*[:=]?\s*(?:0(?![\w.,]\w|\w)|none|nothing|nil|n\/a|zero|[-–—]\s*$)/i;
