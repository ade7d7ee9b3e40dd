import { DEFAULT_COMPLEXITY } from "../../src/core/loop/iteration-timeout.ts";
import type { Settings } from "../../src/core/settings.ts";
import { BUILD, type StageSettings } from "../../src/core/loop/stages.ts";
import { Random } from "../../src/eval/random.ts";
import { GATE } from "./simulated-ports.ts";
import { SOURCE, STORY_SOURCE } from "./simulated-source.ts";
import { StoryFile, UNTOUCHED_STORY, type RawStory } from "./story-file.ts";
import type { VirtualTime } from "../../src/eval/virtual-time.ts";
import { World, type Character } from "./world.ts";

export const CHARACTERS: readonly Character[] = [
  "honest",
  "honest",
  "commits-itself",
  "liar",
  "breaks-gate",
  "ticks-box",
  "slow",
  "crashes",
  "flaky-service",
  "limited",
  "asks",
  "blocks",
  "leaves-secret",
  "forges-letters",
  "names-phantoms",
  "weakens-tests",
  "relaxes-settings",
  "removes-feature",
  "moves-test",
  "suppresses",
  "only-white-space",
  "tidies",
  "finds-it-done",
  "says-it-was-done",
  "needs-no-change",
  "speaks-against",
  "idle",
];

/** A story has to change something. */
const STORY_CHARACTERS = CHARACTERS.filter(
  (character) => !["finds-it-done", "says-it-was-done", "needs-no-change"].includes(character),
);

/** Whoever breaks what only a gate sees would not be caught. */
const UNGATED_CHARACTERS = CHARACTERS.filter(
  (character) => !["breaks-gate", "weakens-tests", "relaxes-settings"].includes(character),
);

/** Some worlds have no gate. */
export function hasGates(seed: number): boolean {
  return !new Random(seed + 15_485_863).chance(0.12);
}

/** How the stories of a world are reviewed. */
export interface StoryRules {
  readonly cap: number;
  readonly skipReview: boolean;
}

/** Some worlds have a file of stories with review fields; the others are what they were without these. */
export function storyRulesFor(seed: number, isWanted = false): StoryRules | null {
  const random = new Random(seed + 7_919);
  if (!random.chance(0.4) && !isWanted) return null;
  return { cap: random.between(1, 3), skipReview: !isWanted && random.chance(0.15) };
}

/** A small project with one to four tasks, each with an agent of some character. */
export function createWorld(
  random: Random,
  time: VirtualTime,
  rules: StoryRules | null = null,
  isGated = true,
  among?: readonly Character[],
): World {
  const characters = among ?? (!isGated ? UNGATED_CHARACTERS : rules ? STORY_CHARACTERS : CHARACTERS);
  const world = new World(random, time, rules && new StoryFile(rules.cap));
  const count = random.between(1, 4);
  for (let number = 0; number < count; number += 1) {
    const loops = random.chance(0.8);
    const before = world.tasks.at(-1);
    const dependsOn = before !== undefined && random.chance(0.2) ? [before.id] : [];
    const character = random.pick(characters);
    const [needs, misbehaves] = [random.between(1, 3), random.between(1, 2)];
    if (rules === null) world.addTask(character, loops ? needs : 1, misbehaves, { loops, dependsOn });
    else {
      const faults = {
        hasty: random.between(0, 2),
        forges: random.between(0, 2),
        fumbles: random.between(0, 2),
      };
      const story = number === 0 || rules.skipReview ? UNTOUCHED_STORY : storyIn(random, rules);
      world.addTask(character, needs, misbehaves, { dependsOn, ...faults }, story);
    }
  }
  return world;
}

/** Mostly untouched, with or without its fields; or already on its way. */
function storyIn(random: Random, { cap }: StoryRules): RawStory {
  if (random.chance(0.2)) return {};
  if (random.chance(0.7)) return UNTOUCHED_STORY;
  const reviewCount = random.between(0, cap);
  return random.chance(0.5)
    ? { ...UNTOUCHED_STORY, reviewStatus: "needs_review", reviewCount }
    : { ...UNTOUCHED_STORY, reviewStatus: "changes_requested", reviewCount, reviewFeedback: "as before" };
}

export function settingsFor(random: Random, rules: StoryRules | null = null, isGated = true): Settings {
  const settings = { ...plainSettings(random), ...(!isGated && { gates: [] }) };
  if (rules === null) return settings;
  const { limits } = settings;
  return {
    ...settings,
    source: STORY_SOURCE,
    limits: { ...limits, maxIterations: 3 * limits.maxIterations },
    reviewCap: rules.cap,
    skipReview: rules.skipReview,
  };
}

export function plainSettings(random: Random): Settings {
  return {
    source: SOURCE,
    agent: "simulated",
    gates: [GATE],
    onlyTasks: null,
    lanes: 1,
    limits: {
      maxIterations: random.pick([4, 8, 20]),
      maxStuck: random.pick([0, 2, 3]),
      maxAttempts: 3,
      maxIterationsPerTask: random.pick([3, 30]),
      retries: 3,
      idleMs: 600_000,
      callsPerHour: random.pick([0, 3, 5]),
      budget: { run: null, task: null, day: null },
      maxDurationMs: null,
    },
    breaker: {
      noProgress: random.pick([0, 3, 4]),
      sameError: random.pick([0, 2, 5]),
      outputDecline: 70,
      cooldownMs: random.pick([0, 60_000, 1_800_000]),
    },
    promise: { completion: "COMPLETE", requireXml: true, verify: true },
    promptTemplate: null,
    mode: "speed",
    timeoutMs: null,
    adaptiveTimeout: {
      enabled: true,
      complexityScaling: true,
      failureScaling: true,
      maxMs: 3_600_000,
      minMs: 60_000,
      perTimeout: 1.5,
      learn: true,
      levels: DEFAULT_COMPLEXITY,
    },
    noWait: random.chance(0.2),
    keepGoing: random.chance(0.7),
    gatesEveryIteration: random.chance(0.2),
    adaptiveIterations: false,
    unblock: { autoSuggest: true, maxAutoAttempts: 1 },
    git: { commit: "ralph", hooks: false },
    protect: { paths: [] },
    verify: {
      oldChecks: "auto",
      oldChecksFail: random.pick(["ask", "ask", "reject"]),
      reader: random.pick(["never", "never", "auto", "auto", "always"]),
      readerAgent: random.pick([null, "simulated", "simulated-2"]),
      readerModel: null,
      readers: random.pick([[], ["simulated"]]),
    },
    interventions: {
      enabled: true,
      thresholdNoFiles: random.pick([0, 2, 3]),
      thresholdFalseCompletion: random.pick([0, 1, 2]),
      window: random.pick([3, 5]),
      rotationDays: 30,
      aggressive: random.chance(0.2),
      midStream: random.chance(0.2),
    },
    fallbackAgents: random.chance(0.3) ? ["simulated-2"] : [],
    leaveAlone: [],
    ...(random.chance(0.3) && { stages: PIPELINE, reviewCap: random.pick([1, 3]) }),
  };
}

const PIPELINE: readonly StageSettings[] = [
  { ...BUILD, name: "coder", maxIterations: 5 },
  { ...BUILD, name: "reviewer", maxIterations: 4, agent: "simulated-2" },
];
