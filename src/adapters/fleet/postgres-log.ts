import { createHash, randomUUID } from "node:crypto";
import { type Event, EVENT_VERSION, type Recorded } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import { RalphError } from "../../core/errors.ts";
import type { Instant } from "../../core/time.ts";
import type { SharedExpectation, SharedLog } from "../../engine/fleet-ports.ts";
import type { Deciding, Expectation, Following, LogFilter } from "../../engine/ports.ts";
import {
  columnsOf,
  conditionsOf,
  costOf,
  type EventRow,
  recordedFrom,
  sealed,
  stateFrom,
} from "../store/stored-rows.ts";
import type { Database, Transaction } from "./database.ts";
import { listen, type Listening } from "./listen.ts";

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
    return this.#inLine(() => this.#append(() => events, expected, following));
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
      `SELECT coalesce(sum(cost), 0) AS sum FROM ralph.events
       WHERE type IN ('iteration.ended', 'reader.answered') AND at >= $1`,
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
      [this.#project, state.position, version, sealed(JSON.stringify(state), state.position)],
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
        return numbered(all, end.position, at);
      },
      async (transaction, recorded) =>
        recorded === null || (await this.#isThere(transaction, batch, recorded[0]?.position ?? 0)),
    );
  }

  /** Everybody who appends waits here, so that what is read stays true; leases are locked as well. */
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

/** A statement may have 65,535 values. */
const AT_ONCE = 1_000;

interface Append {
  readonly project: string;
  /** Where it is said that the log has gone on. */
  readonly channel: string;
  readonly batch: string;
  readonly at: Instant;
}

/** Stores events after the last position, moves the end of the log behind them, and says so. */
async function appendEvents(
  transaction: Transaction,
  { project, channel, batch, at }: Append,
  events: readonly Event[],
  last: number,
): Promise<void> {
  const end = last + events.length;
  for (let start = 0; start < events.length; start += AT_ONCE) {
    const values: unknown[] = [project, batch, at, EVENT_VERSION];
    const value = (one: unknown): string => `$${values.push(one)}`;
    const rows = events.slice(start, start + AT_ONCE).map((event, index) => {
      const position = last + 1 + start + index;
      const { type, run, task, iteration, data } = columnsOf(event, position, at);
      const own = [position, type, keyOf(run), keyOf(task), iteration, costOf(event), data];
      return `($1, $2, $3, $4, ${own.map(value).join(", ")})`;
    });
    const insert = `INSERT INTO ralph.events (project, batch, at, v, position, type, run, task, iteration, cost, data)
       VALUES ${rows.join(", ")}`;
    const isLast = start + AT_ONCE >= events.length;
    const sql = isLast
      ? `WITH added AS (${insert}),
         moved AS (UPDATE ralph.projects SET position = ${value(end)}, at = $3 WHERE id = $1)
         SELECT pg_notify(${value(channel)}, '')`
      : insert;
    await transaction.query(sql, values);
  }
}

function keyOf(text: string | null): string | null {
  return text === null ? null : keyText(text);
}

/** One lock for all projects: who admits a call has counted those of everybody. */
const CALLS_LOCK = 7_325_117;

/** Asked while the project's row is locked; what it has looked at stays so until the end of the transaction. */
async function isMet(
  transaction: Transaction,
  project: string,
  expected: SharedExpectation,
  last: number,
): Promise<boolean> {
  const { position, task, calls } = expected;
  if (position !== undefined && position !== last) return false;
  if (task !== undefined && task.position !== (await lastPositionOf(transaction, project, task.id)))
    return false;
  if (calls === undefined) return true;
  await transaction.query("SELECT pg_advisory_xact_lock($1)", [CALLS_LOCK]);
  return (await callsSince(transaction, calls.since)) < calls.below;
}

/** Of all projects. */
async function callsSince(transaction: Transaction, since: Instant): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(
    `SELECT count(*) AS count FROM ralph.events WHERE type IN ('iteration.started', 'reader.asked')
       AND at >= greatest($1, (SELECT max(at) + 1 FROM ralph.events WHERE type = 'calls.reset'))`,
    [since],
  );
  return row?.count ?? 0;
}

interface LeaseRow {
  readonly name: string;
  readonly number: number;
}

/** Each has to be the last one that was given out under its name. */
function requireHeld(leases: readonly LeaseRow[], found: readonly LeaseRow[]): void {
  const numbers = new Map(found.map(({ name, number }) => [name, number]));
  const lost = leases.find(({ name, number }) => numbers.get(name) !== number);
  if (lost !== undefined)
    throw new RalphError("lease-lost", `another worker has taken over ${lost.name}; nothing was recorded`);
}

/** So that nobody is given one of them before we have written. */
async function holdLeases(
  transaction: Transaction,
  project: string,
  leases: readonly LeaseRow[],
): Promise<void> {
  if (leases.length === 0) return;
  const names = leases.map(({ name }) => name);
  const [row] = await transaction.query<{ leases: readonly LeaseRow[] }>(
    `SELECT ${LEASES_LOCKED} AS leases`,
    [project, names],
  );
  requireHeld(leases, row?.leases ?? []);
}

/** SQL for the leases of the project `$1` that have one of the names `$2`, locked, as JSON. */
const LEASES_LOCKED = `(SELECT coalesce(json_agg(lease), '[]') FROM (
  SELECT name, number FROM ralph.leases WHERE project = $1 AND name = ANY ($2::text[]) ORDER BY name FOR SHARE
) AS lease)`;

async function lastPositionOf(transaction: Transaction, project: string, task: string): Promise<number> {
  const [row] = await transaction.query<{ position: number | null }>(
    "SELECT max(position) AS position FROM ralph.events WHERE project = $1 AND task = $2",
    [project, keyText(task)],
  );
  return row?.position ?? 0;
}

/** At most so many events are fetched at once, so that the raw text of a long log is never in memory as a whole. */
const PAGE = 1_000;

interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Fewer than so many rows: there are no more. */
  readonly limit: number;
}

/**
 * The SQL of one page of a `read`; its cost grows with what it finds, not with the length of the history. Left to
 * itself the planner walks the whole history to spare sorting a few events, so each way to look has its own form.
 */
export function readQuery(project: string, after: number, filter: LogFilter): Query {
  const { types, task, iteration, iterations } = filter;
  // What has to be sorted is fetched as a whole: a page of it would cost as much.
  const limit = Math.min(filter.limit ?? Infinity, iterations === undefined ? PAGE : Infinity);
  const values: unknown[] = [project, after, Number.isFinite(limit) ? limit : null];
  const value = (one: unknown): string => `$${values.push(one)}`;
  const key = { ...filter, ...(task !== undefined && { task: keyText(task) }) };
  const conditions = ["project = $1", "position > $2", ...conditionsOf(key, value)];
  if (types !== undefined) {
    const wanted = `${value(types)}::text[]`;
    if (task === undefined && iteration === undefined && iterations === undefined)
      return { sql: firstOfTypes(conditions, wanted), values, limit };
    conditions.push(`type = ANY (${wanted})`);
  }
  const found = `SELECT position, at, v, data FROM ralph.events WHERE ${conditions.join(" AND ")}`;
  if (iterations === undefined) return { sql: `${found} ${FIRST}`, values, limit };
  return { sql: `WITH found AS MATERIALIZED (${found}) SELECT * FROM found ${FIRST}`, values, limit };
}

/** Text that a database can compare: NUL and halves of surrogate pairs, which it refuses, are escaped. */
function keyText(text: string): string {
  return text.isWellFormed() && !text.includes("\0") ? text : JSON.stringify(text);
}

const FIRST = "ORDER BY position LIMIT $3";

/** The first of each type, of which the first of all are taken. */
function firstOfTypes(conditions: readonly string[], wanted: string): string {
  return `SELECT found.* FROM unnest(${wanted}) AS wanted (type)
    CROSS JOIN LATERAL (
      SELECT position, at, v, data FROM ralph.events
      WHERE ${conditions.join(" AND ")} AND type = wanted.type ${FIRST}
    ) AS found ${FIRST}`;
}
