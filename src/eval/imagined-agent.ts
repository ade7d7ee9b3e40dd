import type { ImaginedTask } from "./imagined-world.ts";
import type { Numbers } from "./parameters.ts";
import { normal, type Random } from "./random.ts";
import type { Failure, SignalReport } from "../core/streams/agent-report.ts";
import type { ExpectedPromise } from "../core/words/read-promise.ts";
import { createSignalReader } from "../core/words/read-signals.ts";

/** What really stands in the workspace of a task. */
export interface Work {
  /** How much of the needed time is in it. */
  readonly doneMs: number;
  /** A test fails although all of it is there. */
  readonly isBroken: boolean;
  /** The last iteration wrote nothing. */
  readonly wasEmptyHanded: boolean;
  /** Whoever stopped half way left a note on what is missing. */
  readonly hasNote: boolean;
  /** Why no gate sees that it is broken: the check is weakened, or the checker is silenced; null: it is seen. */
  readonly hides: "weakened" | "silenced" | null;
  /** A line switches a check off, and hides nothing. */
  readonly suppresses: boolean;
}

export const NO_WORK: Work = {
  doneMs: 0,
  isBroken: false,
  wasEmptyHanded: false,
  hasNote: false,
  hides: null,
  suppresses: false,
};

/** What an agent will do in one iteration, if nobody ends it. */
export interface Behaviour {
  readonly takesMs: number;
  /** What it leaves when it is over after so long, by itself or not. */
  readonly leaves: (afterMs: number) => Work;
  /** It threw away what was there, and began anew. */
  readonly beginsAnew: boolean;
  readonly says: "done" | "unfinished" | "nothing";
  /** Honest words that sound as if something were left. */
  readonly speaksOfTodos: boolean;
  /** The numbers of concerns that it answers. */
  readonly answers: readonly number[];
}

export interface Situation {
  readonly imagined: ImaginedTask;
  readonly work: Work;
  readonly heard: Heard;
  readonly numbers: Numbers;
}

/** Decides by the prompt, by what stands in the workspace, and by chance; which features are on it cannot know. */
export function behave(situation: Situation, random: Random): Behaviour {
  const chances = rollAll(random);
  if (chances.prepares < chanceToPrepare(situation)) return prepare(situation, chances);
  const isFinished = situation.work.doneMs >= situation.imagined.needsMs;
  return isFinished ? mendOrConfirm(situation, chances) : workOn(situation, chances);
}

/** Rolled in one order, whatever comes of them, so that the same iteration has the same luck in every variant. */
function rollAll(random: Random) {
  return {
    prepares: random.next(),
    claimsFalsely: random.next(),
    pace: normal(random),
    halfway: random.next(),
    breaks: random.next(),
    goesOn: random.next(),
    heeds: random.next(),
    forgets: random.next(),
    todos: random.next(),
    hides: random.next(),
    suppresses: random.next(),
  };
}

type Chances = ReturnType<typeof rollAll>;

function chanceToPrepare({ work, heard, numbers }: Situation): number {
  if (!work.wasEmptyHanded) return numbers.preparesOnly;
  return numbers.preparesAgain * (heard.wroteNothing ? 1 - heeding(heard, numbers) : 1);
}

function heeding({ isStrong }: Heard, { heeds, heedsStrong }: Numbers): number {
  return isStrong ? heedsStrong : heeds;
}

const SAYS_NOTHING = { says: "nothing", speaksOfTodos: false, answers: [] } as const;

/** The code is ready in its mind, and so it may well say that it is done. */
function prepare({ work, numbers }: Situation, chances: Chances): Behaviour {
  return {
    ...SAYS_NOTHING,
    takesMs: Math.ceil(numbers.prepareSeconds * 1_000 * Math.exp(chances.pace * numbers.attemptSpread)),
    leaves: () => ({ ...work, wasEmptyHanded: true }),
    beginsAnew: false,
    ...(chances.claimsFalsely < numbers.claimsFalsely && { says: "done" }),
  };
}

/** All of it is there: what is wrong is mended by who is told or notices; others say once more that it is done. */
function mendOrConfirm(situation: Situation, chances: Chances): Behaviour {
  const { imagined, work, heard, numbers } = situation;
  const insight = heard.gateFailed || heard.isDoubted ? heeding(heard, numbers) : numbers.notices;
  const mends = work.isBroken && chances.heeds < insight;
  const hides = mends && heard.gateFailed ? waysToHide(situation, chances) : null;
  const startMs = numbers.startSeconds * 1_000;
  const mendMs = mends
    ? Math.ceil(numbers.mendShare * imagined.needsMs * Math.exp(chances.pace * numbers.attemptSpread))
    : 0;
  return {
    takesMs: startMs + mendMs,
    leaves: (afterMs) => {
      const isOver = mends && afterMs >= startMs + mendMs;
      return {
        ...work,
        isBroken: work.isBroken && !(isOver && hides === null),
        hides: isOver ? hides : work.hides,
        wasEmptyHanded: false,
      };
    },
    beginsAnew: false,
    ...lastWords(situation, chances),
  };
}

/** Works on what is there if it sees that something is, or begins anew. */
function workOn(situation: Situation, chances: Chances): Behaviour {
  const { imagined, work, heard, numbers } = situation;
  const insight = heard.ranOutOfTime || heard.gateFailed ? heeding(heard, numbers) : numbers.notices;
  const isBegun = work.doneMs > 0;
  const goesOn = isBegun && (work.hasNote || chances.goesOn < insight);
  const fromMs = goesOn ? work.doneMs : 0;
  const pace = Math.exp(chances.pace * numbers.attemptSpread);
  const startMs = numbers.startSeconds * 1_000;
  const isHalf = chances.halfway < numbers.stopsHalfway;
  const aimMs = isHalf ? fromMs + (imagined.needsMs - fromMs) / 2 : imagined.needsMs;
  const takesMs = Math.ceil(startMs + (aimMs - fromMs) * pace);
  const breaks = chances.breaks < numbers.breaksGates;
  return {
    takesMs,
    leaves: (afterMs) => {
      const doneMs = Math.min(aimMs, fromMs + Math.max(0, afterMs - startMs) / pace);
      const isAllThere = afterMs >= takesMs && !isHalf;
      return {
        doneMs: isAllThere ? imagined.needsMs : doneMs,
        isBroken: isAllThere && breaks,
        wasEmptyHanded: false,
        hasNote: isHalf && afterMs >= takesMs,
        hides: isAllThere && breaks ? waysToHide(situation, chances) : null,
        suppresses: isAllThere && !breaks && chances.suppresses < numbers.suppresses,
      };
    },
    beginsAnew: isBegun && !goesOn,
    ...(isHalf ? { ...SAYS_NOTHING, says: "unfinished" } : lastWords(situation, chances)),
  };
}

function waysToHide({ numbers }: Situation, { hides }: Chances): Work["hides"] {
  if (hides < numbers.hidesFailure) return "weakened";
  return hides < numbers.hidesFailure + numbers.silences ? "silenced" : null;
}

/** Only who is right answers a concern. */
function lastWords(
  { heard, numbers, work }: Situation,
  chances: Chances,
): Pick<Behaviour, "says" | "speaksOfTodos" | "answers"> {
  const forgets = numbers.forgetsClaim * (heard.didNotClaim ? 1 - heeding(heard, numbers) : 1);
  return {
    says: chances.forgets < forgets ? "nothing" : "done",
    speaksOfTodos: chances.todos < numbers.speaksOfTodos,
    answers: work.isBroken ? [] : heard.concerns,
  };
}

/** What an agent takes from its prompt about the iteration before. It knows nothing else of the loop. */
export interface Heard {
  readonly wroteNothing: boolean;
  readonly gateFailed: boolean;
  readonly ranOutOfTime: boolean;
  readonly didNotClaim: boolean;
  /** Somebody doubts that the checks are right, or rejects the change of them. */
  readonly isDoubted: boolean;
  /** The numbers of the concerns that it has to answer. */
  readonly concerns: readonly number[];
  /** The correction comes before everything else. */
  readonly isStrong: boolean;
}

const HEADING = "## Previous Iteration Feedback";

const DOUBTS = /Ralph doubts it|second reader|with the checks as they were before the task|switch checks off/;

function concernsIn(feedback: string): readonly number[] {
  const [, list = ""] = /Ralph doubts it:\n((?: *\d+\. .*\n)+)/.exec(feedback) ?? [];
  const again = feedback.matchAll(/You were asked about this before[^`]*`Concern (\d+): …`/g);
  return [...list.matchAll(/^ *(\d+)/gm), ...again].map(([, number]) => Number(number));
}

export function hearPrompt(prompt: string): Heard {
  const from = prompt.indexOf(HEADING);
  const next = prompt.indexOf("\n## ", from + 1);
  const feedback = from === -1 ? "" : prompt.slice(from, next === -1 ? undefined : next);
  return {
    wroteNothing: /NO FILES|no file has changed|you changed nothing|not among the changes/.test(feedback),
    gateFailed: /gate "[^"]*" failed/.test(feedback),
    ranOutOfTime: feedback.includes("was ended after"),
    didNotClaim: feedback.includes("ended without a claim"),
    isDoubted: DOUBTS.test(feedback) || prompt.includes("\nThe answer: reject"),
    concerns: concernsIn(feedback),
    isStrong: from === 0,
  };
}

/** The last words of an agent. It names the files of the task whether or not it wrote them. */
export function wordsOf({ files }: ImaginedTask, behaviour: Behaviour, promise: string): readonly string[] {
  const named = files.map((path) => `- Wrote ${path}`);
  switch (behaviour.says) {
    case "done":
      return [
        ...named,
        "",
        behaviour.speaksOfTodos
          ? "Remaining work: none of mine, but the old importer is not yet implemented."
          : "All of it is in place.",
        ...behaviour.answers.map((number) => `Concern ${number}: it has to be so, and hides nothing.`),
        "",
        `<promise>${promise}</promise>`,
      ];
    case "unfinished":
      return ["The first half is there, the rest follows in the next iteration."];
    case "nothing":
      return ["This is how it can be done; the code is ready."];
  }
}

/** As the words of any agent are read. */
export function readWords(
  words: readonly string[],
  promise: ExpectedPromise,
  failure: Failure | null,
): SignalReport {
  const reader = createSignalReader(promise);
  for (const line of words) reader.readLine(line);
  return reader.report(failure);
}
