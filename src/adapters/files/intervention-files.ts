import { existsSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
import { RalphError } from "../../core/errors.ts";
import type { Instant } from "../../core/time.ts";
import type { Clock, Follower, Log } from "../../engine/ports.ts";
import { fileError, writeFileAtomically } from "../process/atomic-file.ts";
import { LateWriter, PAUSE_MS } from "./late-writer.ts";
import { prepareRalphFolder } from "./ralph-folder.ts";

const FOLDER = "interventions";
const EVENTS = `${FOLDER}/events.json`;

interface Entry {
  readonly at: Instant;
  readonly text: string;
}

/** `.ralph/interventions/` and `metrics.json`, kept in step with the log. */
export class InterventionFiles implements Follower {
  readonly #folder: string;
  readonly #log: Log;
  readonly #clock: Pick<Clock, "now">;
  readonly #written = new Map<string, string>();
  readonly #late: LateWriter;
  /** What `events.json` holds; null before `restore`, when nobody knows. */
  #entries: readonly Entry[] | null = null;
  /** Those since the last reset that are no longer in it. */
  #gone = 0;
  #news: Entry[] = [];
  #isBehind = false;

  constructor(folder: string, log: Log, clock: Pick<Clock, "now">, pauseMs = PAUSE_MS) {
    this.#late = new LateWriter((state) => this.#write(state), pauseMs);
    this.#folder = folder;
    this.#log = log;
    this.#clock = clock;
  }

  /** Makes again what is gone, behind or damaged. */
  async restore(state: State): Promise<void> {
    const recorded = await this.#log.read(state.interventionsSince, { types: ["intervention.chosen"] });
    // What came after the state is followed.
    const known = recorded.filter(({ position }) => position <= state.position);
    this.#gone = 0;
    const chosen = known.filter((event) => event.type === "intervention.chosen");
    const [recent, old] = this.#split(chosen.map(entryOf), state);
    this.#prepare();
    const isInStep = holds(this.#path(EVENTS), interventionsDocument(recent.map(({ text }) => text)));
    // Entries leave `events.json` after they are in an archive, so one that is in step vouches for those there are.
    this.#archive(old, (archive) => !isInStep || !existsSync(archive));
    this.#keep(recent, old);
    this.#isBehind = !isInStep;
    this.#write(state);
  }

  follow(event: Recorded): Promise<void> {
    if (event.type === "intervention.chosen") this.#news.push(entryOf(event));
    if (event.type === "interventions.reset") {
      if (this.#entries !== null) this.#entries = [];
      this.#gone = 0;
      this.#news = [];
      this.#isBehind = true;
    }
    return Promise.resolve();
  }

  async settle(state: State): Promise<void> {
    if (this.#entries !== null) this.#late.settle(state);
  }

  #write(state: State): void {
    this.#takeNews(state);
    const current = this.#entries ?? [];
    if (this.#isBehind || !existsSync(this.#path(EVENTS))) {
      this.#put(EVENTS, interventionsDocument(current.map(({ text }) => text)));
      this.#isBehind = false;
    }
    this.#putIfNew(`${FOLDER}/profile.json`, json(profilesDocument(state)));
    this.#putIfNew(`${FOLDER}/feedback.txt`, feedbackText(state));
    this.#putIfNew("metrics.json", json(metricsOf(state)));
  }

  #takeNews(state: State): void {
    if (this.#news.length === 0) return;
    const [recent, old] = this.#split([...(this.#entries ?? []), ...this.#news], state);
    if (old.length > 0) this.#prepare();
    this.#archive(old, () => true);
    this.#keep(recent, old);
    this.#isBehind = true;
  }

  #keep(recent: readonly Entry[], old: readonly Entry[]): void {
    this.#entries = recent;
    this.#gone += old.length;
    this.#news = [];
  }

  /** The entries of `events.json`, and those that are too old or too many for it. */
  #split(entries: readonly Entry[], state: State): readonly [readonly Entry[], readonly Entry[]] {
    const days = state.run?.settings.interventions.rotationDays ?? ROTATION_DAYS;
    const now = this.#clock.now();
    const tooMany = rotatedByNumber(this.#gone + entries.length) - this.#gone;
    const isOld = ({ at }: Entry, index: number): boolean => index < tooMany || isRotated(at, now, days);
    return [entries.filter((entry, index) => !isOld(entry, index)), entries.filter(isOld)];
  }

  #archive(old: readonly Entry[], isDue: (archive: string) => boolean): void {
    for (const [name, entries] of Map.groupBy(old, ({ at }) => archiveName(at))) {
      const archive = join(this.#path(FOLDER), name);
      if (!isDue(archive)) continue;
      addToArchive(
        archive,
        entries.map(({ text }) => text),
      );
    }
  }

  #putIfNew(file: string, text: string): void {
    if (this.#written.get(file) === text && existsSync(this.#path(file))) return;
    if (!this.#written.has(file) && holds(this.#path(file), text)) this.#written.set(file, text);
    else this.#put(file, text);
  }

  #put(file: string, text: string): void {
    this.#prepare();
    writeFileAtomically(this.#path(file), text, { durable: false });
    if (file !== EVENTS) this.#written.set(file, text);
  }

  /** An agent may have cleaned up, or put a link there that leads elsewhere. */
  #prepare(): void {
    const path = this.#path(FOLDER);
    if (!existsSync(path)) prepareRalphFolder(this.#folder);
    try {
      if (!existsSync(path)) mkdirSync(path);
      if (lstatSync(path).isDirectory()) return;
    } catch (error) {
      throw fileError(error, path);
    }
    const what = "is a symbolic link or a file; ralph writes only into folders of the repository";
    throw new RalphError("not-writable", `${path} ${what}`, { hint: "remove it" });
  }

  #path(file: string): string {
    return join(this.#folder, file);
  }
}

function entryOf(event: RecordedIntervention): Entry {
  return { at: event.at, text: JSON.stringify(interventionEntry(event)) };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Whether a plain file has exactly this text; one of another size is not even read. */
function holds(path: string, text: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size !== Buffer.byteLength(text)) return false;
  return readFileSync(path, "utf8") === text;
}

/** More than months of the busiest project; what is larger is not ours. */
const BYTES_MAX = 256 * 1024 * 1024;

/** Adds serialised entries to a compressed file of the same form; what is in it stays, nothing comes twice. */
function addToArchive(path: string, entries: readonly string[]): void {
  const kept = entriesIn(path);
  const known = new Set(kept.map(identity));
  const added = entries.filter((entry) => !known.has(identity(entry)));
  if (added.length === 0) return;
  writeFileAtomically(path, gzipSync(interventionsDocument([...kept, ...added])));
}

function entriesIn(path: string): readonly string[] {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isFile() || stat.size > BYTES_MAX) return [];
    const text = gunzipSync(readFileSync(path), { maxOutputLength: BYTES_MAX }).toString("utf8");
    const { events } = JSON.parse(text) as { readonly events: readonly unknown[] };
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
