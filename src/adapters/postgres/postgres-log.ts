import { createHash, randomUUID } from "node:crypto";
import type { Event, Recorded } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import type { Instant } from "../../core/time.ts";
import type { SharedExpectation, SharedLog } from "../../engine/fleet-ports.ts";
import type { Deciding, Expectation, Following, LogFilter } from "../../engine/ports.ts";
import { recordedFrom, stateFrom, type EventRow } from "../store/stored-rows.ts";
import type { Database, Transaction } from "./database.ts";
import {
  callsSince,
  holdLeases,
  isMet,
  LEASES,
  LEASES_LOCKED,
  type LeaseRow,
  requireHeld,
} from "./expectations.ts";
import { appendEvents } from "./append-events.ts";
import { listen, type Listening } from "./listen.ts";
import { readQuery } from "./read-query.ts";

/** The log of one project in a database that several machines share; closing it leaves the database open. */
export function openPostgresLog(database: Database, project: string): SharedLog {
  return new PostgresLog(database, project);
}

/** Where the log ends, while its row is locked. */
interface End {
  readonly position: number;
  readonly at: Instant;
  readonly now: Instant;
}

type Leases = SharedExpectation["leases"];

class PostgresLog implements SharedLog {
  readonly #database: Database;
  readonly #project: string;
  readonly #channel: string;
  #lastAppend: Promise<unknown> = Promise.resolve();
  /** Where the log ended when we last looked. */
  #known = 0;

  constructor(database: Database, project: string) {
    this.#database = database;
    this.#project = project;
    this.#channel = `ralph_${createHash("sha256").update(project).digest("hex").slice(0, 32)}`;
  }

  /** Our own wait in line, so that they happen in the order in which they were asked for. */
  append(
    events: readonly Event[],
    expected: SharedExpectation = {},
    following: Following = () => [],
  ): Promise<readonly Recorded[] | null> {
    if (events.length === 0) return Promise.resolve([]);
    return this.#inLine(async () =>
      (await this.#isPassed(expected)) ? null : this.#append(() => events, expected, following),
    );
  }

  appendDecided(
    after: number,
    decide: Deciding,
    calls?: Expectation["calls"],
    leasesFor: (events: readonly Event[]) => NonNullable<Leases> = () => [],
  ): Promise<readonly Recorded[] | null> {
    const expected = { since: after, ...(calls && { calls }) };
    return this.#inLine(() => this.#append(decide, expected, () => [], leasesFor));
  }

  read(after: number, filter: LogFilter = {}): Promise<readonly Recorded[]> {
    return this.#read(this.#database, after, filter);
  }

  countCalls(since: Instant): Promise<number> {
    return callsSince(this.#database, since);
  }

  async sumCosts(since: Instant): Promise<number> {
    const [row] = await this.#database.query<{ sum: number }>(
      `SELECT coalesce(sum(cost), 0) AS sum FROM ralph.events WHERE type = 'iteration.ended' AND at >= $1`,
      [since],
    );
    return row?.sum ?? 0;
  }

  async loadSnapshot(version: number): Promise<State | null> {
    const [row] = await this.#database.query<{ position: number; state: string }>(
      `SELECT snapshots.position, state FROM ralph.snapshots JOIN ralph.projects ON id = project
       WHERE project = $1 AND version = $2 AND snapshots.position <= projects.position`,
      [this.#project, version],
    );
    return row === undefined ? null : stateFrom(row);
  }

  /** Somebody else may have stored a later one of the same version meanwhile; that one stays. */
  async saveSnapshot(state: State, version: number): Promise<void> {
    await this.#database.query(
      `INSERT INTO ralph.snapshots AS known (project, position, version, state) VALUES ($1, $2, $3, $4)
       ON CONFLICT (project) DO UPDATE
         SET position = excluded.position, version = excluded.version, state = excluded.state
         WHERE known.version <> excluded.version OR known.position <= excluded.position
           OR known.position > (SELECT position FROM ralph.projects WHERE id = $1)`,
      [this.#project, state.position, version, JSON.stringify(state)],
    );
  }

  async forget(): Promise<void> {
    await this.#database.transaction(
      async (transaction) => {
        const end = await this.#lock(transaction);
        for (const table of ["events", "snapshots"])
          await transaction.query(`DELETE FROM ralph.${table} WHERE project = $1`, [this.#project]);
        await transaction.query(
          `WITH moved AS (UPDATE ralph.projects SET position = 0 WHERE id = $1) SELECT pg_notify($2, '')`,
          [this.#project, this.#channel],
        );
        return end;
      },
      async (transaction, before) => (await this.#lock(transaction)).position < before.position,
    );
  }

  listen(heard: () => void): Promise<Listening> {
    return listen(this.#database, this.#channel, heard);
  }

  async close(): Promise<void> {
    await this.#lastAppend;
  }

  async #read(asked: Transaction, after: number, filter: LogFilter): Promise<readonly Recorded[]> {
    const found: Recorded[] = [];
    const wanted = filter.limit ?? Infinity;
    for (let position = after; found.length < wanted; position = found.at(-1)?.position ?? position) {
      const rest = filter.limit === undefined ? filter : { ...filter, limit: wanted - found.length };
      const { sql, values, limit } = readQuery(this.#project, position, rest);
      const rows = await asked.query<EventRow>(sql, values);
      for (const row of rows) found.push(recordedFrom(row, this.#database.name));
      if (rows.length < limit) break;
    }
    return found;
  }

  #inLine<Result>(append: () => Promise<Result>): Promise<Result> {
    const result = this.#lastAppend.then(append);
    this.#lastAppend = result.catch(() => {}); // whoever asked for it hears of the failure
    return result;
  }

  #append(
    decide: Deciding,
    expected: SharedExpectation,
    following: Following,
    leasesFor?: (events: readonly Event[]) => NonNullable<Leases>,
  ): Promise<readonly Recorded[] | null> {
    const batch = randomUUID();
    return this.#database.transaction(
      async (transaction) => {
        const end = await this.#lock(transaction, expected.leases);
        this.#known = end.position;
        const { since = end.position } = expected;
        const news = since < end.position ? await this.#read(transaction, since, {}) : [];
        const events = decide(news);
        if (events === null || events.length === 0) return null;
        if (leasesFor !== undefined) await holdLeases(transaction, this.#project, leasesFor(events));
        if (!(await isMet(transaction, this.#project, expected, end.position))) return null;
        const at = Math.max(end.at, end.now);
        const recorded = numbered(events, end.position, at);
        const all = [...events, ...following(recorded, news)];
        await appendEvents(
          transaction,
          { project: this.#project, channel: this.#channel, batch, at },
          all,
          end.position,
        );
        this.#known = end.position + all.length;
        return numbered(all, end.position, at);
      },
      async (transaction, recorded) =>
        recorded === null || (await this.#isThere(transaction, batch, recorded[0]?.position ?? 0)),
    );
  }

  /** Whether the log has gone on since, as is likely when we ourselves have written; spares many transactions. */
  async #isPassed({ position, leases = [] }: SharedExpectation): Promise<boolean> {
    if (position === undefined || position >= this.#known) return false;
    const [end] = await this.#database.query<{ position: number; leases: readonly LeaseRow[] }>(
      `SELECT position, ${LEASES} AS leases FROM ralph.projects WHERE id = $1`,
      [this.#project, leases.map(({ name }) => name)],
    );
    requireHeld(leases, end?.leases ?? []);
    this.#known = end?.position ?? 0;
    return this.#known !== position;
  }

  /**
   * Everybody who appends waits here, so what is read afterwards stays true until the end of the transaction. Leases are
   * locked as well, so that nobody is given one of them before we have written.
   */
  async #lock(transaction: Transaction, leases: Leases = []): Promise<End> {
    for (;;) {
      const [end] = await transaction.query<End & { leases: readonly LeaseRow[] }>(
        `WITH locked AS MATERIALIZED (SELECT position, at FROM ralph.projects WHERE id = $1 FOR UPDATE)
         SELECT position, at, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
                ${LEASES_LOCKED} AS leases
         FROM locked`,
        [this.#project, leases.map(({ name }) => name)],
      );
      if (end !== undefined) requireHeld(leases, end.leases);
      if (end !== undefined) return end;
      await transaction.query("INSERT INTO ralph.projects (id) VALUES ($1) ON CONFLICT DO NOTHING", [
        this.#project,
      ]);
    }
  }

  async #isThere(transaction: Transaction, batch: string, position: number): Promise<boolean> {
    await this.#lock(transaction);
    const found = await transaction.query(
      "SELECT 1 FROM ralph.events WHERE project = $1 AND position = $2 AND batch = $3",
      [this.#project, position, batch],
    );
    return found.length > 0;
  }
}

function numbered(events: readonly Event[], last: number, at: Instant): readonly Recorded[] {
  return events.map((event, index) => ({ ...event, position: last + 1 + index, at }));
}
