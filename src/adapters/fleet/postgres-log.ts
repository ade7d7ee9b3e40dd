import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
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

type LeasesFor = (events: readonly Event[]) => NonNullable<SharedExpectation["leases"]>;

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
    return this.#inLine(() =>
      this.#append(
        () => events,
        expected,
        following,
        () => expected.leases ?? [],
      ),
    );
  }

  appendDecided(
    after: number,
    decide: Deciding,
    calls?: Expectation["calls"],
    leasesFor: LeasesFor = () => [],
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
    leasesFor: LeasesFor,
  ): Promise<readonly Recorded[] | null> {
    const batch = randomUUID();
    return this.#database.transaction(
      async (transaction) => {
        const end = await this.#lock(transaction);
        const { since = end.position } = expected;
        const news = since < end.position ? await this.#read(transaction, since, {}) : [];
        const events = decide(news);
        if (events === null || events.length === 0) return null;
        await this.#holdLeases(transaction, leasesFor(events));
        if (!(await this.#isMet(transaction, expected, end.position))) return null;
        const at = Math.max(end.at, end.now);
        const recorded = numbered(events, end.position, at);
        const all = [...events, ...following(recorded, news)];
        await this.#store(transaction, all, { last: end.position, at, batch });
        return numbered(all, end.position, at);
      },
      async (transaction, recorded) =>
        recorded === null || (await this.#isThere(transaction, batch, recorded[0]?.position ?? 0)),
    );
  }

  /** Everybody who appends waits here, so that what is read stays true. */
  async #lock(transaction: Transaction): Promise<End> {
    for (;;) {
      const [end] = await transaction.query<End>(
        `WITH locked AS MATERIALIZED (SELECT position, at FROM ralph.projects WHERE id = $1 FOR UPDATE)
         SELECT position, at, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM locked`,
        [this.#project],
      );
      if (end !== undefined) return end;
      await transaction.query("INSERT INTO ralph.projects (id) VALUES ($1) ON CONFLICT DO NOTHING", [
        this.#project,
      ]);
    }
  }

  /** What it has looked at stays so until the end of the transaction. */
  async #isMet(transaction: Transaction, expected: SharedExpectation, last: number): Promise<boolean> {
    const { position, task, calls } = expected;
    if (position !== undefined && position !== last) return false;
    if (task !== undefined) {
      const [row] = await transaction.query<{ position: number | null }>(
        "SELECT max(position) AS position FROM ralph.events WHERE project = $1 AND task = $2",
        [this.#project, keyText(task.id)],
      );
      if (task.position !== (row?.position ?? 0)) return false;
    }
    if (calls === undefined) return true;
    await transaction.query("SELECT pg_advisory_xact_lock($1)", [CALLS_LOCK]);
    return (await callsSince(transaction, calls.since)) < calls.below;
  }

  /** Each has to be the last one that was given out under its name, and nobody is given it before we have written. */
  async #holdLeases(transaction: Transaction, leases: ReturnType<LeasesFor>): Promise<void> {
    if (leases.length === 0) return;
    const found = await transaction.query<{ name: string; number: number }>(
      "SELECT name, number FROM ralph.leases WHERE project = $1 AND name = ANY ($2::text[]) ORDER BY name FOR SHARE",
      [this.#project, leases.map(({ name }) => name)],
    );
    const numbers = new Map(found.map(({ name, number }) => [name, number]));
    const lost = leases.find(({ name, number }) => numbers.get(name) !== number);
    if (lost !== undefined)
      throw new RalphError("lease-lost", `another worker has taken over ${lost.name}; nothing was recorded`);
  }

  /** Stores events after the last position, moves the end of the log behind them, and says so. */
  async #store(
    transaction: Transaction,
    events: readonly Event[],
    { last, at, batch }: { readonly last: number; readonly at: Instant; readonly batch: string },
  ): Promise<void> {
    const rows = events.map((event, index) => {
      const position = last + 1 + index;
      const columns = columnsOf(event, position, at);
      const { run, task } = columns;
      return {
        ...columns,
        run: run && keyText(run),
        task: task && keyText(task),
        position,
        cost: costOf(event),
      };
    });
    await transaction.query(
      `WITH added AS (
         INSERT INTO ralph.events (project, batch, at, v, position, type, run, task, iteration, cost, data)
         SELECT $1::text, $2::uuid, $3::bigint, $4::integer, added.* FROM json_to_recordset($5::json) AS added
           (position bigint, type text, run text, task text, iteration bigint, cost double precision, data text)
       ),
       moved AS (UPDATE ralph.projects SET position = $6, at = $3 WHERE id = $1)
       SELECT pg_notify($7, '')`,
      [this.#project, batch, at, EVENT_VERSION, JSON.stringify(rows), last + events.length, this.#channel],
    );
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

/** One lock for all projects: who admits a call has counted those of everybody. */
const CALLS_LOCK = 7_325_117;

/** Of all projects. */
async function callsSince(transaction: Transaction, since: Instant): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(
    `SELECT count(*) AS count FROM ralph.events WHERE type IN ('iteration.started', 'reader.asked')
       AND at >= greatest($1, (SELECT max(at) + 1 FROM ralph.events WHERE type = 'calls.reset'))`,
    [since],
  );
  return row?.count ?? 0;
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

interface Listening {
  close(): Promise<void>;
}

const AGAIN_MS = 1_000;

/** Calls on every message of the channel, and after every reconnect, since some may have been missed. */
async function listen(database: Database, channel: string, heard: () => void): Promise<Listening> {
  const ending = new AbortController();
  const { signal } = ending;
  // Whatever keeps us from it, the log is looked at from time to time anyway.
  const open = async (): Promise<Client | null> => {
    try {
      const client = await database.connect();
      client.on("notification", heard);
      await client.query(`LISTEN "${channel}"`);
      return client;
    } catch {
      return null;
    }
  };
  const keepListening = async (first: Client | null): Promise<void> => {
    for (let client = first; ; client = await open()) {
      if (client === null) await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
      else {
        if (client !== first) heard();
        await once(client, "end", { signal }).catch(() => {});
      }
      if (!signal.aborted) continue;
      await client?.end().catch(() => {});
      return;
    }
  };
  const listening = keepListening(await open());
  return {
    close: async () => {
      ending.abort();
      await listening;
    },
  };
}
