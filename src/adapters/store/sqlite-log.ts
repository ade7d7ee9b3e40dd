import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Statement } from "better-sqlite3";
import { type Event, EVENT_VERSION, type Recorded } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import { RalphError } from "../../core/errors.ts";
import type { Instant } from "../../core/time.ts";
import type { Expectation, Following, Log, LogFilter } from "../../engine/ports.ts";
import { mendIfDamaged } from "./mend-database.ts";
import { openDatabase } from "./open-database.ts";
import { DamagedFact, isBusy, isDamage, storeError } from "./store-error.ts";
import { requireKnown } from "./project-id.ts";
import { columnsOf, conditionsOf, type EventRow, recordedFrom, sealed, stateFrom } from "./stored-rows.ts";

interface SqliteLogOptions {
  readonly now?: () => Instant;
  /** How long an operation keeps trying while other processes write. */
  readonly patienceMs?: number;
}

interface OpenedLog {
  readonly log: Log;
  /** What the person should be told: a damaged file was set aside, and what of it was saved. */
  readonly notice: string | null;
}

/** The log of one project in a database file that several projects and processes may share. */
export function openSqliteLog(file: string, project: string, options: SqliteLogOptions = {}): OpenedLog {
  const path = resolve(file);
  const now = options.now ?? Date.now;
  const { db, notice } = openDatabase(path, now);
  try {
    requireKnown(db, path, project);
  } catch (error) {
    // Whoever reads the damaged part sets the file aside.
    if (!isDamage(error)) {
      db.close();
      throw storeError(error, path);
    }
  }
  return { log: new SqliteLog(db, path, project, now, options.patienceMs ?? 10_000), notice };
}

class SqliteLog implements Log {
  readonly #db: Database;
  readonly #file: string;
  readonly #project: string;
  readonly #now: () => Instant;
  readonly #patienceMs: number;
  readonly #statements = new Map<string, Statement>();
  readonly #compareAndAppend;
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(db: Database, file: string, project: string, now: () => Instant, patienceMs: number) {
    this.#db = db;
    this.#file = file;
    this.#project = project;
    this.#now = now;
    this.#patienceMs = patienceMs;
    this.#compareAndAppend = db.transaction(
      (events: readonly Event[], expected: Expectation, following: Following) => {
        const last = this.#lastPosition();
        if (!this.#isMet(expected, last)) return null;
        const { since = last } = expected;
        const news = since < last ? this.#read(since, {}) : [];
        const recorded = this.#insert(events, last);
        return [...recorded, ...this.#insert(following(recorded, news), last + recorded.length)];
      },
    );
  }

  async append(
    events: readonly Event[],
    expected: Expectation = {},
    following: Following = () => [],
  ): Promise<readonly Recorded[] | null> {
    if (events.length === 0) return [];
    return this.#write(() => this.#compareAndAppend.immediate(events, expected, following));
  }

  async read(after: number, filter: LogFilter = {}): Promise<readonly Recorded[]> {
    return this.#attempt(() => this.#read(after, filter));
  }

  async countCalls(since: Instant): Promise<number> {
    return this.#attempt(() => this.#callsSince(since));
  }

  async sumCosts(since: Instant): Promise<number> {
    return this.#attempt(() =>
      this.#number(
        `SELECT coalesce(sum(coalesce(json_extract(data, '$.report.usage.costUsd'),
                                       json_extract(data, '$.reading.usage.costUsd'))), 0) FROM events
         WHERE type IN ('iteration.ended', 'reader.answered') AND at >= ?`,
        since,
      ),
    );
  }

  async loadSnapshot(version: number): Promise<State | null> {
    const row = await this.#attempt(
      () =>
        this.#prepare(
          `SELECT position, state FROM snapshots
           WHERE project = ? AND version = ?
             AND position <= (SELECT max(events.position) FROM events WHERE events.project = snapshots.project)`,
        ).get(this.#project, version) as { position: number; state: string } | undefined,
    );
    return row === undefined ? null : stateFrom(row);
  }

  async saveSnapshot(state: State, version: number): Promise<void> {
    const text = sealed(JSON.stringify(state), state.position);
    await this.#write(() =>
      this.#prepare(`REPLACE INTO snapshots (project, position, version, state) VALUES (?, ?, ?, ?)`).run(
        this.#project,
        state.position,
        version,
        text,
      ),
    );
  }

  async forget(): Promise<void> {
    await this.#write(() =>
      this.#db.transaction(() => {
        for (const table of ["events", "snapshots"]) {
          this.#prepare(`DELETE FROM ${table} WHERE project = ?`).run(this.#project);
        }
      })(),
    );
  }

  async close(): Promise<void> {
    await this.#lastWrite;
    this.#db.close();
  }

  #read(after: number, filter: LogFilter): readonly Recorded[] {
    const { sql, values } = readQuery(this.#project, after, filter);
    const rows = this.#prepare(sql).all(...values) as EventRow[];
    const { limit: _, ...chosen } = filter;
    // Whatever an index no longer finds is missing in between.
    if (Object.keys(chosen).length === 0 && rows.some(({ position }, at) => position !== after + 1 + at))
      throw new DamagedFact("the order of events", this.#file);
    return rows.map((row) => recordedFrom(row, this.#file));
  }

  #isMet({ task, position, calls }: Expectation, last: number): boolean {
    if (position !== undefined && position !== last) return false;
    if (calls !== undefined && this.#callsSince(calls.since) >= calls.below) return false;
    return task === undefined || task.position === this.#lastPositionOf(task.id);
  }

  #callsSince(since: Instant): number {
    return this.#number(
      `SELECT count(*) FROM events WHERE type IN ('iteration.started', 'reader.asked')
         AND at >= max(?, coalesce((SELECT max(at) + 1 FROM events WHERE type = 'calls.reset'), 0))`,
      since,
    );
  }

  #lastPosition(): number {
    return this.#number("SELECT coalesce(max(position), 0) FROM events WHERE project = ?", this.#project);
  }

  #lastPositionOf(task: string): number {
    return this.#number(
      "SELECT coalesce(max(position), 0) FROM events WHERE project = ? AND task = ?",
      this.#project,
      task,
    );
  }

  /** The first column of the only row. */
  #number(sql: string, ...values: readonly unknown[]): number {
    return this.#prepare(sql)
      .pluck()
      .get(...values) as number;
  }

  #insert(events: readonly Event[], last: number): readonly Recorded[] {
    const insert = this.#prepare(
      `INSERT INTO events (project, position, at, v, type, run, task, iteration, data)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const at = this.#now();
    return events.map((event, index) => {
      const position = last + 1 + index;
      const { type, run, task, iteration, data } = columnsOf(event, position, at);
      insert.run(this.#project, position, at, EVENT_VERSION, type, run, task, iteration, data);
      return { ...event, position, at };
    });
  }

  /** Writes wait in line: one of ours tries at a time, in the order in which they were asked for. */
  #write<Result>(work: () => Result): Promise<Result> {
    const deadline = performance.now() + this.#patienceMs;
    const result = this.#lastWrite.then(() => this.#attempt(work, deadline));
    this.#lastWrite = result.catch(() => {}); // whoever asked for it hears of the failure
    return result;
  }

  async #attempt<Result>(
    work: () => Result,
    deadline = performance.now() + this.#patienceMs,
  ): Promise<Result> {
    try {
      return await untilFree(work, deadline);
    } catch (error) {
      throw isDamage(error) ? this.#damaged(error) : storeError(error, this.#file);
    }
  }

  /** Damage may show long after opening; it is mended so that the next start is not stuck on it too. */
  #damaged(cause: unknown): Error {
    this.#db.close();
    const notice = mendIfDamaged(this.#file, this.#now) ?? `${this.#file} was damaged`;
    const hint = "ralph history shows what is left of it, and ralph run goes on from there";
    return new RalphError("state-unusable", notice, { hint, cause });
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The SQL of one `read`; its cost grows with what it finds, not with the length of the history. */
export function readQuery(
  project: string,
  after: number,
  filter: LogFilter,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { types, limit = -1 } = filter;
  const values: unknown[] = [];
  const value = (one: unknown): string => {
    values.push(one);
    return "?";
  };
  const conditions = [
    `project = ${value(project)}`,
    `position > ${value(after)}`,
    ...(types === undefined ? [] : [`type IN (${types.map(value).join(", ")})`]),
    ...conditionsOf(filter, value),
  ];
  // Left to itself the planner walks the whole history to spare sorting the few events of rare types.
  const index = indexFor(filter);
  const sql = `SELECT position, at, v, data FROM events ${index === null ? "" : `INDEXED BY ${index}`}
    WHERE ${conditions.join(" AND ")} ORDER BY position LIMIT ${value(limit)}`;
  return { sql, values };
}

function indexFor({ types, task, iteration, iterations }: LogFilter): string | null {
  if (task !== undefined || iteration !== undefined) return null;
  if (iterations !== undefined) return "events_by_iteration";
  return types === undefined ? null : "events_by_type";
}

/**
 * Does the work once no other connection is in the way. It waits between the attempts and not inside SQLite, so
 * that timers, kills and heartbeats go on meanwhile. The deadline is one of `performance.now()`.
 */
async function untilFree<Result>(work: () => Result, deadline: number): Promise<Result> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    // Random, so that several that wait do not meet again.
    await sleep(5 + Math.random() * 40);
  }
}
