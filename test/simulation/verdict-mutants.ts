import type { Event, EventOf } from "../../src/core/events.ts";
import { UNKNOWN_USAGE } from "../../src/core/streams/agent-report.ts";
import type { Reading } from "../../src/core/verdict/reader.ts";
import type { Ports } from "../../src/engine/ports.ts";
import { onAppend } from "./mutant-log.ts";
import type { Mutant } from "./simulate.ts";
import type { Character } from "./world.ts";

const WEAKENERS: readonly Character[] = ["weakens-tests", "relaxes-settings", "honest"];
const DOUBTFUL: readonly Character[] = ["tidies", "suppresses", "honest"];

/** Bugs planted in how claims are judged. */
export const VERDICT_MUTANTS: readonly Mutant[] = [
  {
    name: "red old checks ignored",
    characters: WEAKENERS,
    ports: (ports) =>
      onEach(ports, "old-checks.ran", (event) => ({
        ...event,
        oldChecks: {
          ...event.oldChecks,
          gates: event.oldChecks.gates.map((gate) => ({ ...gate, status: "passed", exitCode: 0 })),
        },
      })),
  },
  {
    name: "old checks never run",
    characters: WEAKENERS,
    settings: (settings) => ({
      ...settings,
      ...(settings.verify && { verify: { ...settings.verify, oldChecks: "never" } }),
    }),
  },
  {
    name: "the agent's own answer settles that old checks fail",
    characters: [...WEAKENERS, "removes-feature"],
    ports: (ports) => onAppend(ports, acceptsInstead),
  },
  {
    name: "a challenge costs an attempt",
    characters: DOUBTFUL,
    ports: (ports) =>
      onEach(ports, "verdict.reached", (event) =>
        event.verdict === "challenged" ? { ...event, verdict: "rejected" } : event,
      ),
  },
  {
    name: "a challenge is forgotten",
    characters: DOUBTFUL,
    ports: (ports) =>
      onEach(ports, "verdict.reached", (event) =>
        event.verdict === "challenged" ? { ...event, concerns: [] } : event,
      ),
  },
  {
    name: "a reader that calls a concern real is ignored",
    characters: [...WEAKENERS, "only-white-space"],
    ports: (ports) => onReading(ports, (reading) => ({ ...reading, review: friendly(reading.review) })),
  },
  {
    name: "a reader that fails is held against the agent",
    characters: DOUBTFUL,
    ports: (ports) => {
      const failed = new Set<number>();
      return onAppend(ports, (events) =>
        events.map((event) => {
          if (event.type === "reader.answered" && event.reading.review === null) failed.add(event.iteration);
          const isHeld = event.type === "verdict.reached" && failed.has(event.iteration);
          return isHeld ? { ...event, verdict: "rejected" } : event;
        }),
      );
    },
  },
  {
    name: "what a reader costs is not counted",
    lanes: true,
    ports: (ports) => onReading(ports, (reading) => ({ ...reading, usage: UNKNOWN_USAGE })),
  },
  {
    name: "a rejection by a person taken for an acceptance",
    characters: [...WEAKENERS, "says-it-was-done"],
    ports: (ports) =>
      onEach(ports, "question.answered", (event) => ({
        ...event,
        answer: event.answer.replace("reject", "accept"),
      })),
  },
];

function friendly(review: Reading["review"]): Reading["review"] {
  return (
    review && {
      criteria: review.criteria.map((one) => ({ ...one, answer: "met" })),
      concerns: review.concerns.map((one) => ({ ...one, answer: "harmless" })),
    }
  );
}

/** Where a person would be asked about a change of checks. */
function acceptsInstead(events: readonly Event[]): readonly Event[] {
  const question = events.find((event) => event.type === "question.asked");
  const acceptance = question?.acceptance;
  const isDoubted = events.some(
    (event) =>
      event.type === "verdict.reached" && event.concerns?.some(({ settledBy }) => settledBy === null),
  );
  if (question === undefined || acceptance?.is !== "completion" || !isDoubted) return events;
  const { run, task, iteration } = question;
  const { commit, certificate } = acceptance;
  const completed: Event = { type: "task.completed", run, task, iteration, commit, certificate };
  return events.flatMap((event): Event[] => {
    if (event === question) return [completed];
    return [event.type === "verdict.reached" ? { ...event, verdict: "accepted" } : event];
  });
}

function onReading(ports: Ports, change: (reading: Reading) => Reading): Ports {
  return onEach(ports, "reader.answered", (event) => ({ ...event, reading: change(event.reading) }));
}

function onEach<Type extends Event["type"]>(
  ports: Ports,
  type: Type,
  change: (event: EventOf<Type>) => Event,
): Ports {
  return onAppend(ports, (events) =>
    events.map((event) => (event.type === type ? change(event as EventOf<Type>) : event)),
  );
}
