import type { EventOf, EventType, Recorded } from "../../src/core/events.ts";

/** What is on the simulated disk right now, for invariants that compare the world with the log. */
export class DurableFacts {
  readonly all: readonly Recorded[];

  constructor(stored: readonly Recorded[]) {
    this.all = stored;
  }

  has(type: EventType, task: string): boolean {
    return this.all.some((event) => event.type === type && "task" in event && event.task === task);
  }

  started(iteration: number): boolean {
    return this.all.some((event) => event.type === "iteration.started" && event.iteration === iteration);
  }

  lastVerdict(task: string): string | null {
    const last = this.all.findLast((event) => event.type === "verdict.reached" && event.task === task);
    return last?.type === "verdict.reached" ? last.verdict : null;
  }

  /** What became of a story, in order. */
  settled(story: string): readonly EventOf<"story.settled">[] {
    return this.all.filter(
      (event) => event.type === "story.settled" && event.task === story,
    ) as readonly Recorded<EventOf<"story.settled">>[];
  }
}
