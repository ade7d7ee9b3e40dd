import { signal } from "@preact/signals";
import type { LiveProgress } from "../../core/projections/overview.ts";
import type { Facts } from "../api.ts";

/** How the stream of events stands. */
export const connection = signal<"connecting" | "live" | "reconnecting">("connecting");

/** What agents are doing right now, as last told. */
export const liveProgress = signal<readonly LiveProgress[]>([]);

/** Null: anything may have happened meanwhile. */
export type News = Facts | null;

const listeners = new Set<(news: News) => void>();
const AGAIN_MS = 2_000;
const HIDDEN_MS = 30_000;

/** Tells of facts until the returned function is called. */
export function onNews(listener: (news: News) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Keeps the stream open while somebody looks. A browser has six connections for a server, and each stream takes one:
 * pages in the background ask now and then instead.
 */
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
