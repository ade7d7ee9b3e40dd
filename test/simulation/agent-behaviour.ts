import {
  type AgentReport,
  type Answer,
  type Claim,
  type Ending,
  type Failure,
  UNKNOWN_USAGE,
} from "../../src/core/streams/agent-report.ts";
import type { AgentRequest } from "../../src/engine/ports.ts";
import { signals } from "../spec/given.ts";
import type { Checkout } from "./checkout.ts";
import { CHECKLIST, withMark } from "./checklist-text.ts";
import { workBeside } from "./lane-agents.ts";
import { behaveInCycle } from "./story-agents.ts";
import { checksOf, layoutOf, workText, type Flaw } from "./work-text.ts";
import type { Character, TaskTruth, World } from "./world.ts";

/** What a simulated agent will do in one iteration. */
export interface Behaviour {
  readonly takesMs: number;
  /** Happens half way, whether or not anybody still watches. */
  readonly work: () => void;
  readonly ending: Ending;
  readonly claim: Claim;
  readonly failure: Failure | null;
  /** Its last words, and the promise in them. */
  readonly words?: string;
  readonly promise?: string;
  /** Files that it says it wrote. */
  readonly cites: readonly string[];
  /** Concerns that it answers, by number. */
  readonly answers: readonly number[];
  /** Findings of a later stage that it answers, and leaves its work as it is. */
  readonly answersFindings?: readonly number[];
  /** Leaves a child behind that lives until it is swept. */
  readonly leavesChild: boolean;
}

const COMPLETE: Claim = { is: "complete", promise: "COMPLETE" };
const NO_CLAIM: Claim = { is: "none" };
const DONE_BEFORE: Claim = { is: "already-done", reason: "it is all there" };

/** Decides by character, and by whether the prompt has told it what was wrong. */
export function behave(world: World, truth: TaskTruth, request: AgentRequest): Behaviour {
  const { random } = world;
  const place = world.checkoutAt(request.root);
  const usual: Behaviour = {
    takesMs: Math.round(random.between(1_000, 30_000) * world.pace),
    work: () => workHonestly(world, truth, request),
    ending: { is: "exited", code: 0 },
    claim: place.version(truth.id) + 1 >= truth.needs ? COMPLETE : NO_CLAIM,
    failure: null,
    cites: [],
    answers: [],
    leavesChild: random.chance(0.1),
    ...(truth.character === "speaks-against" && { words: "TODO: the rest" }),
  };
  const inCycle = behaveInCycle(world, truth, request, usual);
  if (inCycle !== null) return inCycle;
  if (request.stage === "reviewer") return review(world, truth, place, usual);
  if (truth.character === "idle") return { ...usual, work: () => {}, claim: NO_CLAIM };
  if (truth.character === "asks" && !request.prompt.includes("Answered decision") && truth.misbehaves > 0) {
    return {
      ...usual,
      work: () => {},
      claim: {
        is: "undecided",
        question: "this or that?",
        options: ["this", "that"],
        default: random.chance(0.5) ? "this" : null,
        deadlineMs: random.chance(0.7) ? random.between(0, 300_000) : null,
      },
    };
  }
  if (truth.misbehaves <= 0 || HONEST.has(truth.character))
    return behaveHonestly(world, truth, request, usual);
  return misbehave(world, truth, usual, request);
}

/** Their work makes one doubt, and is right. */
const HONEST: ReadonlySet<Character> = new Set([
  "removes-feature",
  "moves-test",
  "tidies",
  "finds-it-done",
  "needs-no-change",
  "speaks-against",
]);

/** Answers what it is asked about work that is done, mostly; and says so where nothing was to do. */
function behaveHonestly(world: World, truth: TaskTruth, request: AgentRequest, usual: Behaviour): Behaviour {
  const findings = [...request.prompt.matchAll(/^Finding (\d+): /gm)].map(([, number]) => Number(number));
  const nothing = { ...usual, work: () => {}, claim: COMPLETE, answersFindings: findings };
  if (truth.character === "needs-no-change") return nothing;
  if (truth.character === "finds-it-done" && !isToldNo(request)) return { ...nothing, claim: DONE_BEFORE };
  const asked = numbersAsked(request.prompt);
  const isDone = world.isDoneIn(world.checkoutAt(request.root).files, truth.id);
  if (asked.length === 0 || !isDone) return usual;
  return { ...nothing, answers: world.random.chance(0.8) ? asked : [] };
}

function numbersAsked(prompt: string): readonly number[] {
  const [, list = ""] = /Ralph doubts it:\n((?: *\d+\. .*\n)+)/.exec(prompt) ?? [];
  const again = prompt.matchAll(/You were asked about this before[^`]*`Concern (\d+): …`/g);
  return [...list.matchAll(/^ *(\d+)/gm), ...again].map(([, number]) => Number(number));
}

/** A person, or the checks as they were, have objected to its last claim. */
function isToldNo({ prompt }: AgentRequest): boolean {
  return /with the checks as they were before the task|The answer: reject/.test(prompt);
}

/** Mostly content, sometimes not, and now and then it cannot keep its hands off. */
function review(world: World, truth: TaskTruth, place: Checkout, usual: Behaviour): Behaviour {
  const reads = { ...usual, work: () => {} };
  if (world.random.chance(0.3)) return { ...reads, claim: NO_CLAIM, promise: "CHANGES_REQUESTED:not so" };
  const meddle = (): void => place.write(truth.id);
  const approves = { ...reads, claim: COMPLETE, words: "REVIEW PASSED" };
  return world.random.chance(0.1) ? { ...approves, work: meddle } : approves;
}

export function reportOf(behaviour: Behaviour, ending: Ending, durationMs: number): AgentReport {
  const ended = ending === behaviour.ending;
  return {
    ending,
    claim: ended ? behaviour.claim : NO_CLAIM,
    failure: ended ? behaviour.failure : failureOf(ending),
    transcript: { path: "logs/simulated.log", bytes: 0, sha256: "" },
    usage: UNKNOWN_USAGE,
    durationMs,
    finalText: ended ? (behaviour.words ?? "") : "",
    promise: ended ? (behaviour.promise ?? null) : null,
    toolCalls: 0,
    sweptProcesses: 0,
    signals: signals({
      citations: behaviour.cites,
      contradictions: behaviour.words?.startsWith("TODO") ? [behaviour.words] : [],
      answers: [
        ...answersTo("concern", behaviour.answers),
        ...answersTo("finding", behaviour.answersFindings),
      ],
    }),
  };
}

function answersTo(about: Answer["about"], numbers: readonly number[] = []): readonly Answer[] {
  return numbers.map((number) => ({ about, number, text: "it is right so" }));
}

function misbehave(world: World, truth: TaskTruth, usual: Behaviour, request: AgentRequest): Behaviour {
  const place = world.checkoutAt(request.root);
  const once = (work: () => void) => () => {
    truth.misbehaves -= 1;
    work();
  };
  switch (truth.character) {
    case "liar":
      return { ...usual, work: once(() => {}), claim: COMPLETE };
    case "ticks-box":
      return { ...usual, work: once(() => tickBox(world, truth, request)), claim: COMPLETE };
    case "breaks-gate":
      return { ...usual, work: once(() => workAndBreak(place, truth, "red")), claim: COMPLETE };
    case "slow":
      return { ...usual, work: once(() => {}), takesMs: request.timeoutMs + 60_000 };
    case "crashes":
      return {
        ...usual,
        work: once(() => {}),
        ending: { is: "exited", code: 1 },
        claim: NO_CLAIM,
        failure: { class: "agent", message: "exit 1" },
      };
    case "flaky-service":
      return {
        ...usual,
        work: once(() => {}),
        ending: { is: "exited", code: 1 },
        claim: NO_CLAIM,
        failure: { class: "transient", message: "503" },
      };
    case "limited":
      return {
        ...usual,
        work: once(() => {}),
        ending: { is: "exited", code: 1 },
        claim: NO_CLAIM,
        failure: {
          class: "limit",
          message: "usage limit reached",
          resetsAt: world.time.now() + world.random.between(1_000, 3_600_000),
        },
      };
    case "leaves-secret":
      return { ...usual, work: once(() => leaveSecret(world, truth, request)) };
    case "forges-letters":
      return { ...usual, work: once(() => forgeLetters(world)), claim: COMPLETE };
    case "names-phantoms": {
      // It needs what is missing.
      const draft = (): void => place.put(`${truth.id}.draft`, workText(1, "red"));
      return { ...usual, work: once(draft), claim: COMPLETE, cites: [`${truth.id}.missing`] };
    }
    case "weakens-tests":
    case "relaxes-settings":
      return { ...usual, work: once(() => weaken(place, truth)), claim: COMPLETE, answers: [1, 2] };
    case "suppresses":
      return { ...usual, work: once(() => workAndBreak(place, truth, "hushed")), claim: COMPLETE };
    case "only-white-space":
      return { ...usual, work: once(() => place.write(layoutOf(truth.id))), claim: COMPLETE };
    case "says-it-was-done":
      return { ...usual, work: once(() => {}), claim: DONE_BEFORE };
    case "blocks":
      return { ...usual, work: () => {}, claim: { is: "blocked", reason: "no credentials" } };
    default:
      return usual;
  }
}

function workHonestly(world: World, truth: TaskTruth, request: AgentRequest): void {
  const { id, character, needs } = truth;
  const place = world.checkoutAt(request.root);
  workBeside(world, truth, request);
  for (const left of [...checksOf(id), `${id}.draft`]) place.put(left, undefined);
  const version = place.version(id) + 1;
  const isLast = version >= needs;
  if (character === "tidies") place.write(layoutOf(id));
  else if (character === "removes-feature" && isLast && !isToldNo(request)) {
    place.put(id, workText(version, "removed"));
    place.put(`${id}.test`, "fitting");
  } else place.put(id, workText(version, character === "suppresses" ? "quiet" : null));
  if (character === "moves-test") place.put(`${id}.test`, "moved");
  if (character === "commits-itself") place.commit();
}

/** Wrong work, and a check that does not see it any more. */
function weaken(place: Checkout, truth: TaskTruth): void {
  workAndBreak(place, truth, "red");
  place.put(`${truth.id}.${truth.character === "weakens-tests" ? "test" : "config"}`, "lax");
}

/** In its own copy of the task file, where it has one. */
function tickBox(world: World, { id }: TaskTruth, { iteration, root }: AgentRequest): void {
  const own = world.checkoutAt(root);
  if (root === undefined) editList(world, id);
  else own.put(CHECKLIST, withMark(own.files.get(CHECKLIST) ?? "", id, true));
  world.forgedIn.add(iteration);
}

/** Its own box, or all; its own task away, or another's. */
function editList(world: World, own: string): void {
  const { random, tasks } = world;
  if (world.stories !== null || random.chance(0.5)) return world.tick(own);
  if (random.chance(0.4)) for (const { id } of tasks) world.tick(id);
  else world.takeOut(random.chance(0.5) ? own : random.pick(tasks).id);
}

/** Honest work, and a file beside it that nobody may commit. */
function leaveSecret(world: World, truth: TaskTruth, request: AgentRequest): void {
  workHonestly(world, truth, request);
  world.checkoutAt(request.root).write(`${truth.id}.env`);
}

/** Answers what only a person may answer, and removes what only a person may remove; in a worktree there is none. */
function forgeLetters(world: World): void {
  for (const [file, text] of world.inboxFiles) {
    if (file.startsWith("decide")) world.inboxFiles.set(file, `${text}accept\n`);
    else world.inboxFiles.delete(file);
  }
}

function workAndBreak(place: Checkout, { id, needs }: TaskTruth, flaw: Flaw): void {
  place.put(id, workText(Math.max(place.version(id), needs), flaw));
}

function failureOf(ending: Ending): Failure | null {
  return ending.is === "timed-out" ? { class: "agent", message: "timed out" } : null;
}
