import { lstatSync, readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Recorded } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import {
  archiveName,
  interventionEntry,
  interventionsDocument,
  isRotated,
  type RecordedIntervention,
  rotatedByNumber,
  ROTATION_DAYS,
  feedbackText,
  metricsOf,
  profilesDocument,
} from "../../core/views/interventions.ts";
import type { Instant } from "../../core/time.ts";
import type { Clock, Follower, Log } from "../../engine/ports.ts";
import { writeFileAtomically } from "../process/atomic-file.ts";
import { LateWriter, PAUSE_MS } from "./late-writer.ts";
import { ViewFiles } from "./ralph-folder.ts";

const FOLDER = "interventions";
const EVENTS = `${FOLDER}/events.json`;
const EARLIER = `${FOLDER}/events-earlier.json`;

interface Entry {
  readonly at: Instant;
  readonly text: string;
}

/** `.ralph/interventions/` and `metrics.json`, kept in step with the log. */
export class InterventionFiles implements Follower {
  readonly #files: ViewFiles;
  readonly #log: Log;
  readonly #clock: Pick<Clock, "now">;
  readonly #late: LateWriter;
  /** What `events.json` holds; null before `restore`, when nobody knows. */
  #entries: readonly Entry[] | null = null;
  /** Those of another program, serialised; they stay ahead of ours. */
  #earlier: readonly string[] = [];
  /** Those since the last reset that are no longer in it. */
  #gone = 0;

  constructor(folder: string, log: Log, clock: Pick<Clock, "now">, pauseMs = PAUSE_MS) {
    this.#late = new LateWriter((state) => this.#write(state), pauseMs);
    this.#files = new ViewFiles(folder);
    this.#log = log;
    this.#clock = clock;
  }

  /** Makes again what is gone, behind or damaged. */
  async restore(state: State): Promise<void> {
    const recorded = await this.#log.read(state.interventionsSince, { types: ["intervention.chosen"] });
    // What came after the state is followed.
    const known = recorded.filter(({ position }) => position <= state.position);
    this.#entries = known.filter((event) => event.type === "intervention.chosen").map(entryOf);
    this.#gone = 0;
    if (state.run === null) this.#keepEarlier(known.length === 0);
    this.#earlier = state.interventionsSince === 0 ? this.#entriesIn(EARLIER) : [];
    this.#write(state);
  }

  /** The file of another program, or of a log that is lost, would be gone with the first write. */
  #keepEarlier(isForeign: boolean): void {
    const found = isForeign ? this.#entriesIn(EVENTS) : [];
    const kept = this.#entriesIn(EARLIER);
    const added = found.filter((entry) => !kept.includes(entry));
    if (added.length > 0) this.#files.put(EARLIER, interventionsDocument([...kept, ...added]));
  }

  #entriesIn(file: string): readonly string[] {
    return entriesIn(this.#files.prepare(file), (bytes) => bytes.toString("utf8"));
  }

  async follow(event: Recorded): Promise<void> {
    if (this.#entries === null) return;
    if (event.type === "intervention.chosen") this.#entries = [...this.#entries, entryOf(event)];
    if (event.type !== "interventions.reset") return;
    this.#entries = [];
    this.#earlier = [];
    this.#gone = 0;
  }

  async settle(state: State): Promise<void> {
    if (this.#entries !== null) this.#late.settle(state);
  }

  #write(state: State): void {
    const recent = this.#withoutOld(this.#entries ?? [], state).map(({ text }) => text);
    this.#files.put(EVENTS, interventionsDocument([...this.#earlier, ...recent]));
    this.#files.putJson(`${FOLDER}/profile.json`, profilesDocument(state));
    this.#files.put(`${FOLDER}/feedback.txt`, feedbackText(state));
    this.#files.putJson("metrics.json", metricsOf(state));
  }

  /** Moves entries that are too old or too many into archives; a crash in between only repeats that. */
  #withoutOld(entries: readonly Entry[], state: State): readonly Entry[] {
    const days = state.run?.settings.interventions.rotationDays ?? ROTATION_DAYS;
    const now = this.#clock.now();
    const tooMany = rotatedByNumber(this.#gone + entries.length) - this.#gone;
    const { old = [], recent = [] } = Object.groupBy(entries, ({ at }, index) =>
      index < tooMany || isRotated(at, now, days) ? "old" : "recent",
    );
    for (const [name, archived] of Map.groupBy(old, ({ at }) => archiveName(at)))
      addToArchive(
        this.#files.prepare(`${FOLDER}/${name}`),
        archived.map(({ text }) => text),
      );
    this.#entries = recent;
    this.#gone += old.length;
    return recent;
  }
}

function entryOf(event: RecordedIntervention): Entry {
  return { at: event.at, text: JSON.stringify(interventionEntry(event)) };
}

/** More than months of the busiest project; what is larger is not ours. */
const BYTES_MAX = 256 * 1024 * 1024;

/** Adds serialised entries to a compressed file of the same form; what is in it stays, nothing comes twice. */
function addToArchive(path: string, entries: readonly string[]): void {
  const kept = entriesIn(path, gunzip);
  const known = new Set(kept.map(identity));
  const added = entries.filter((entry) => !known.has(identity(entry)));
  if (added.length === 0) return;
  writeFileAtomically(path, gzipSync(interventionsDocument([...kept, ...added])));
}

function gunzip(bytes: Buffer): string {
  return gunzipSync(bytes, { maxOutputLength: BYTES_MAX }).toString("utf8");
}

function entriesIn(path: string, textOf: (bytes: Buffer) => string): readonly string[] {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isFile() || stat.size > BYTES_MAX) return [];
    const { events } = JSON.parse(textOf(readFileSync(path))) as { readonly events: readonly unknown[] };
    return events.map((event) => JSON.stringify(event));
  } catch {
    // Damaged, or never ours: the log still has what belongs in it.
    return [];
  }
}

/** What makes two entries the same event. */
function identity(entry: string): string {
  const { iteration, event_type, timestamp, rule, message } = JSON.parse(entry) as Record<string, unknown>;
  return JSON.stringify([iteration, event_type, timestamp, rule, message]);
}
