import { verifyOf, type GateSettings, type Settings } from "../core/settings.ts";
import { AGENT, MISSING_GATE, SOURCE } from "./imagined-ports.ts";

/** What can be switched on and off, in the order in which it is shown. */
export const FEATURES = {
  evidence: "a claim counts only if git shows the work",
  gates: "a claim counts only if the project's tests pass",
  "old checks": "the gates must also pass with the checks as they were before the task, or somebody agrees",
  reader: "a second reader looks at doubtful claims, and at all where there are no gates",
  challenge: "doubts about a claim are put to the reader or the agent, not left aside",
  feedback: "the next prompt says precisely what was wrong",
  interventions: "feedback, and after repeated mistakes a prompt that begins with it, then a suspension",
  timeouts: "the time for an iteration fits the task, and grows after a timeout",
  unblocking: "a task that timeouts blocked is tried again with twice the time",
} as const;

export type Feature = keyof typeof FEATURES;

export const ALL_FEATURES = Object.keys(FEATURES) as readonly Feature[];

/** Everything that a world is played with. */
export interface Variant {
  readonly name: string;
  readonly features: ReadonlySet<Feature>;
}

/** Without feedback there is nothing to lead the prompt, and old checks are those of gates. */
const NEEDS: Partial<Record<Feature, Feature>> = { interventions: "feedback", "old checks": "gates" };

export const BASELINE: Variant = { name: "baseline", features: new Set() };
export const EVERYTHING: Variant = { name: "everything", features: new Set(ALL_FEATURES) };

/** The baseline, each feature alone, everything but one, and everything. */
export const VARIANTS: readonly Variant[] = [
  BASELINE,
  ...ALL_FEATURES.map((feature) => ({
    name: `only ${feature}`,
    features: new Set(ALL_FEATURES.filter((one) => one === feature || one === NEEDS[feature])),
  })),
  ...ALL_FEATURES.map((feature) => ({
    name: `without ${feature}`,
    features: new Set(ALL_FEATURES.filter((one) => one !== feature && NEEDS[one] !== feature)),
  })),
  EVERYTHING,
];

/** Without any of these nothing beyond facts is looked at. */
const VERIFIES: readonly Feature[] = ["evidence", "old checks", "reader", "challenge"];

/** The settings of Ralph's own defaults with only these features; what production had in common stays on. */
export function settingsFor(defaults: Settings, { features }: Variant, iterations: number): Settings {
  const has = (feature: Feature): boolean => features.has(feature);
  const { interventions, limits, promise, unblock, adaptiveTimeout } = defaults;
  return {
    ...defaults,
    source: SOURCE,
    agent: AGENT,
    mode: "speed",
    keepGoing: true,
    limits: { ...limits, maxIterations: iterations, callsPerHour: 0 },
    gates: has("gates") ? [gate("tests", true), gate(MISSING_GATE, false)] : [],
    promise: { ...promise, verify: VERIFIES.some(has) },
    verify: {
      ...verifyOf(defaults),
      oldChecks: has("old checks") ? "auto" : "never",
      reader: has("reader") ? "auto" : "never",
      readerAgent: AGENT,
    },
    adaptiveTimeout: { ...adaptiveTimeout, enabled: has("timeouts") },
    unblock: { ...unblock, maxAutoAttempts: has("unblocking") ? unblock.maxAutoAttempts : 0 },
    interventions: {
      ...interventions,
      enabled: has("feedback"),
      ...(!has("interventions") && { thresholdNoFiles: 0, thresholdFalseCompletion: 0 }),
    },
  };
}

/** What a blocked task has left half done is not held against the next one. */
function gate(name: string, required: boolean): GateSettings {
  return {
    name,
    command: name,
    timeoutMs: 600_000,
    required,
    onMissing: "warn",
    cwd: null,
    env: {},
    kind: null,
    retries: 0,
    expect: { exitCode: 0, outputContains: null, outputNotContains: null },
    onBaseline: "tolerate",
  };
}
