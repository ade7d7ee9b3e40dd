import type { EventOf, EventType, Recorded } from "../../src/core/events.ts";

const SETTLES_MERGE: ReadonlySet<EventType> = new Set([
  "merge.prepared",
  "merge.overtaken",
  "merge.held",
  "task.merged",
]);

/** What is on the simulated disk right now, for invariants that compare the world with the log. */
export class DurableFacts {
  readonly all: readonly Recorded[];

  constructor(stored: readonly Recorded[]) {
    this.all = stored;
  }

  has(type: EventType, task: string): boolean {
    return this.all.some((event) => event.type === type && "task" in event && event.task === task);
  }

  /** The latest of these that is known of a task. */
  lastAbout(task: string, types: readonly EventType[]): EventType | null {
    const last = this.all.findLast(
      (event) => types.includes(event.type) && "task" in event && event.task === task,
    );
    return last?.type ?? null;
  }

  /** Whether its work counts as done; not when it did not go together with the base afterwards. */
  isAccepted(task: string): boolean {
    return this.lastAbout(task, ["task.completed", "merge.failed"]) === "task.completed";
  }

  /** Whether the last that is known of it is that it did not go together with the base. */
  isToMend(task: string): boolean {
    return this.lastAbout(task, ["verdict.reached", "merge.failed"]) === "merge.failed";
  }

  /** The merge that is recorded as prepared and of which nothing is known since. */
  get preparedMerge(): EventOf<"merge.prepared"> | null {
    const last = this.all.findLast(({ type }) => SETTLES_MERGE.has(type));
    return last?.type === "merge.prepared" ? last : null;
  }

  started(iteration: number): boolean {
    return this.all.some((event) => event.type === "iteration.started" && event.iteration === iteration);
  }

  isJudged(iteration: number): boolean {
    return this.all.some((event) => event.type === "verdict.reached" && event.iteration === iteration);
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
