import { computed, signal } from "@preact/signals";
import type { LiveProgress, LogLine, Overview } from "../../core/views/overview.ts";
import type { Instant } from "../../core/time.ts";
import type { Facts } from "../api.ts";
import { get, type Problem } from "./api-client.ts";

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

/** The server's time, to the second, for everything that counts up or down. */
export const now = signal<Instant>(Date.now());

let aheadMs = 0;

function setServerTime(at: Instant): void {
  aheadMs = at - Date.now();
  now.value = at;
}

setInterval(() => {
  if (!document.hidden) now.value = Date.now() + aheadMs;
}, 1_000);

export const connection = signal<"connecting" | "live" | "reconnecting">("connecting");

/** What agents are doing right now, as last told. */
export const liveProgress = signal<readonly LiveProgress[]>([]);

/** Null: anything may have happened meanwhile. */
type News = Facts | null;

const listeners = new Set<(news: News) => void>();
const AGAIN_MS = 2_000;
const HIDDEN_MS = 30_000;

/** Tells of facts until the returned function is called. */
export function onNews(listener: (news: News) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps the stream open while the page is visible: a browser has only six connections for a server. */
export function listenToEvents(): void {
  let source = openStream();
  let timer = 0;
  const look = (isHidden: boolean): void => {
    clearInterval(timer);
    source.close();
    if (isHidden) timer = setInterval(() => tell(null), HIDDEN_MS);
    else source = openStream();
  };
  document.addEventListener("visibilitychange", () => look(document.hidden));
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) look(false);
  });
  // A browser opens the stream again by itself, except where the server refused it.
  setInterval(() => {
    if (source.readyState === EventSource.CLOSED && !document.hidden) source = openStream();
  }, AGAIN_MS);
}

function openStream(): EventSource {
  const source = new EventSource("/api/events");
  source.addEventListener("open", () => {
    connection.value = "live";
    tell(null);
  });
  source.addEventListener("error", () => {
    connection.value = "reconnecting";
  });
  source.addEventListener("facts", ({ data }) => {
    tell(JSON.parse(String(data)) as Facts);
  });
  source.addEventListener("progress", ({ data }) => {
    liveProgress.value = JSON.parse(String(data)) as readonly LiveProgress[];
  });
  return source;
}

function tell(news: News): void {
  for (const listener of listeners) listener(news);
}

/** What takes long is done the more seldom. */
const PAUSE = 3;

/** Joins calls of `work`: never two at a time, never closer than `gapMs`, always one after the last call. */
export function coalesce(work: () => Promise<void>, gapMs: number): () => void {
  let isBusy = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      const began = performance.now();
      await work();
      const pause = Math.max(gapMs, (performance.now() - began) * PAUSE);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void run();
  };
}
