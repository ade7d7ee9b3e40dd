import type { Heard } from "./hear-prompt.ts";
import type { ImaginedTask } from "./imagined-task.ts";
import type { Numbers } from "./parameters.ts";
import { normal, type Random } from "./random.ts";

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
}

export const NO_WORK: Work = { doneMs: 0, isBroken: false, wasEmptyHanded: false, hasNote: false };

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
  return isFinished(situation) ? mendOrConfirm(situation, chances) : workOn(situation, chances);
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

/** The code is ready in its mind, and so it may well say that it is done. */
function prepare({ work, numbers }: Situation, chances: Chances): Behaviour {
  return {
    takesMs: Math.ceil(numbers.prepareSeconds * 1_000 * Math.exp(chances.pace * numbers.attemptSpread)),
    leaves: () => ({ ...work, wasEmptyHanded: true }),
    beginsAnew: false,
    says: chances.claimsFalsely < numbers.claimsFalsely ? "done" : "nothing",
    speaksOfTodos: false,
  };
}

function isFinished({ work, imagined }: Situation): boolean {
  return work.doneMs >= imagined.needsMs;
}

/** All of it is there: what is wrong is mended by who is told or notices; others say once more that it is done. */
function mendOrConfirm(situation: Situation, chances: Chances): Behaviour {
  const { imagined, work, heard, numbers } = situation;
  const insight = heard.gateFailed ? heeding(heard, numbers) : numbers.notices;
  const mends = work.isBroken && chances.heeds < insight;
  const startMs = numbers.startSeconds * 1_000;
  const mendMs = mends ? Math.ceil(numbers.mendShare * imagined.needsMs * paceOf(situation, chances)) : 0;
  return {
    takesMs: startMs + mendMs,
    leaves: (afterMs) => ({
      ...work,
      isBroken: work.isBroken && !(mends && afterMs >= startMs + mendMs),
      wasEmptyHanded: false,
    }),
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
  const pace = paceOf(situation, chances);
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
      };
    },
    beginsAnew: isBegun && !goesOn,
    ...(isHalf ? { says: "unfinished", speaksOfTodos: false } : lastWords(situation, chances)),
  };
}

function paceOf({ numbers }: Situation, { pace }: Chances): number {
  return Math.exp(pace * numbers.attemptSpread);
}

function lastWords(
  { heard, numbers }: Situation,
  chances: Chances,
): Pick<Behaviour, "says" | "speaksOfTodos"> {
  const forgets = numbers.forgetsClaim * (heard.didNotClaim ? 1 - heeding(heard, numbers) : 1);
  return {
    says: chances.forgets < forgets ? "nothing" : "done",
    speaksOfTodos: chances.todos < numbers.speaksOfTodos,
  };
}
