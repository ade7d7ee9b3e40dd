import { computed, signal } from "@preact/signals";
import type { LiveProgress, LogLine, Overview } from "../../core/projections/overview.ts";
import { get, type Problem } from "./api-client.ts";
import { setServerTime } from "./clock.ts";
import { coalesce } from "./coalesce.ts";
import { liveProgress, onNews } from "./live.ts";

/** Undefined until the server has answered for the first time. */
export const overview = signal<Overview | undefined>(undefined);
export const overviewProblem = signal<Problem | null>(null);

/** The lines seen since the page was opened, oldest first. */
export const logLines = signal<readonly LogLine[]>([]);

export const mayAct = computed(() => overview.value?.mayAct ?? false);

const GAP_MS = 300;
const LOOK_MS = 5_000;
/** A page may stay open for days. */
const LINES_KEPT = 5_000;

/** The latest overview, kept so as facts come. */
export function keepOverview(): void {
  const ask = coalesce(async () => {
    const answer = await get<Overview>("/api/overview");
    if (answer.is === "problem") {
      overviewProblem.value = answer.problem;
      return;
    }
    setServerTime(answer.value.now);
    overviewProblem.value = null;
    overview.value = answer.value;
    liveProgress.value = answer.value.progress;
    logLines.value = withNewer(logLines.value, answer.value.tail);
  }, GAP_MS);
  onNews(ask);
  ask();
  // That a process has died is no fact of the log.
  setInterval(() => {
    if (!document.hidden) ask();
  }, LOOK_MS);
}

export function progressOf(iteration: number): LiveProgress | undefined {
  return liveProgress.value.find((progress) => progress.iteration === iteration);
}

export function progressOfTask(task: string): LiveProgress | undefined {
  return liveProgress.value.find((progress) => progress.task === task);
}

function withNewer(known: readonly LogLine[], tail: readonly LogLine[]): readonly LogLine[] {
  const first = tail[0];
  if (first === undefined) return known;
  return [...known.filter(({ position }) => position < first.position), ...tail].slice(-LINES_KEPT);
}
