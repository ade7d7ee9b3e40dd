import type { AgentReport, Claim, Ending, Failure } from "../../src/core/report/agent-report.ts";
import { UNKNOWN_USAGE } from "../../src/core/report/agent-report.ts";
import type { AgentRequest } from "../../src/engine/ports.ts";
import { signals } from "../spec/given.ts";
import type { Checkout } from "./checkout.ts";
import { CHECKLIST, withMark } from "./checklist-text.ts";
import { workBeside } from "./lane-agents.ts";
import { behaveInCycle } from "./story-agents.ts";
import { workText, type Flaw } from "./work-text.ts";
import type { TaskTruth, World } from "./world.ts";

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
  /** Leaves a child behind that lives until it is swept. */
  readonly leavesChild: boolean;
}

const COMPLETE: Claim = { is: "complete", promise: "COMPLETE" };
const NO_CLAIM: Claim = { is: "none" };

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
    leavesChild: random.chance(0.1),
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
  if (truth.misbehaves <= 0) return usual;
  return misbehave(world, truth, usual, request);
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
    signals: signals({ citations: behaviour.cites }),
  };
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
      const draft = (): void => place.write(`${truth.id}.draft`);
      return { ...usual, work: once(draft), claim: COMPLETE, cites: [`${truth.id}.missing`] };
    }
    case "weakens-tests":
      return { ...usual, work: once(() => workAndBreak(place, truth, "hidden")), claim: COMPLETE };
    case "blocks":
      return { ...usual, work: () => {}, claim: { is: "blocked", reason: "no credentials" } };
    default:
      return usual;
  }
}

function workHonestly(world: World, truth: TaskTruth, request: AgentRequest): void {
  const place = world.checkoutAt(request.root);
  workBeside(world, truth, request);
  place.write(truth.id);
  if (truth.character === "commits-itself") place.commit();
}

/** In its own copy of the task file, where it has one. */
function tickBox(world: World, { id }: TaskTruth, { iteration, root }: AgentRequest): void {
  const own = world.checkoutAt(root);
  if (root === undefined) world.tick(id);
  else own.put(CHECKLIST, withMark(own.files.get(CHECKLIST) ?? "", id, true));
  world.forgedIn.add(iteration);
}

/** Honest work, and a file beside it that nobody may commit. */
function leaveSecret(world: World, truth: TaskTruth, request: AgentRequest): void {
  workHonestly(world, truth, request);
  world.checkoutAt(request.root).write(`${truth.id}.env`);
}

/** Answers what only a person may answer, and removes what only a person may remove; in a worktree there is none. */
function forgeLetters(world: World): void {
  for (const [file, text] of world.letters) {
    if (file.startsWith("decide")) world.letters.set(file, `${text}forged\n`);
    else world.letters.delete(file);
  }
}

function workAndBreak(place: Checkout, { id, needs }: TaskTruth, flaw: Flaw): void {
  place.put(id, workText(Math.max(place.version(id), needs), flaw));
}

function failureOf(ending: Ending): Failure | null {
  return ending.is === "timed-out" ? { class: "agent", message: "timed out" } : null;
}
