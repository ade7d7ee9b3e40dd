import { PgBoss } from "pg-boss";
import type { TaskId } from "../../core/plan.ts";
import type { Database, Transaction } from "./database.ts";
import { clock, isLive, isOverdue } from "./leases.ts";

/** One delivery of a job; it is settled only as this delivery, not as a later one. */
export interface Delivery {
  readonly queue: string;
  readonly id: string;
  readonly retryCount: number;
}

export interface FetchedJob extends Delivery {
  readonly task: TaskId;
  readonly priority: number;
}

export interface WaitingJob {
  readonly queue: string;
  readonly task: TaskId;
  /** The highest first. */
  readonly priority: number;
}

export interface Look {
  /** How many of the best jobs wait in which queue. */
  readonly waiting: ReadonlyMap<string, number>;
  /** Delivered to workers whose lease of the task ran out. */
  readonly stranded: readonly Delivery[];
}

const SCHEMA = "ralph_jobs";

/** Jobs live as long as leases do, and those may be renewed for weeks. */
const NEVER_SECONDS = 10 * 365 * 24 * 3600;
const RETRIES = 2_000_000_000;
const TIDY_SECONDS = 600;
const NO_JOB = "00000000-0000-0000-0000-000000000000";

/**
 * The jobs of pg-boss. A job says "go on with this task"; it waits, is delivered when the task's lease is given out, and
 * is done when that is released. Whether a delivered job's worker lives is a matter of the lease alone, so none of
 * pg-boss's own clocks decide it: neither expiry nor heartbeats, which know nothing of a server that was away.
 * Deliveries are made by pg-boss; the two looks below only read its table `job`, by its indexes.
 */
export class Jobs {
  readonly #database: Database;
  readonly #boss: PgBoss;
  /** Those that are there for certain, and that pg-boss has heard of. */
  readonly #queues = new Set<string>();

  private constructor(database: Database, boss: PgBoss) {
    this.#database = database;
    this.#boss = boss;
  }

  /** Makes pg-boss's tables where they are missing; any number of processes may do this at the same moment. */
  static async open(database: Database): Promise<Jobs> {
    const boss = new PgBoss({
      db: hand(database),
      schema: SCHEMA,
      schedule: false,
      supervise: false,
      reindex: false,
      monitorVacuum: false,
      maintenanceIntervalSeconds: TIDY_SECONDS,
      queueCacheIntervalSeconds: TIDY_SECONDS,
      bamIntervalSeconds: TIDY_SECONDS,
    });
    // Its background work is done again later; without a listener it would end the process.
    boss.on("error", () => {});
    await startAmongOthers(boss);
    return new Jobs(database, boss);
  }

  /** Which of these have no job yet and are not held; and deliveries of theirs that nobody holds any longer. */
  async missing(
    project: string,
    leaseMs: number,
    jobs: readonly WaitingJob[],
  ): Promise<{ readonly unknown: readonly WaitingJob[]; readonly stranded: readonly Delivery[] }> {
    const rows = await this.#database.query<{ index: number; id: string | null; retryCount: number }>(
      `WITH ${clock("$4")}
       SELECT offered.index::int - 1 AS index, job.id, job.retry_count AS "retryCount"
       FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS offered (queue, task, index)
       CROSS JOIN clock
       LEFT JOIN LATERAL ${jobOf("offered.queue", "offered.task", "state <= 'active'")} AS job ON true
       LEFT JOIN ralph.leases AS held ON held.project = $1 AND held.name = offered.task
       WHERE (job.id IS NULL OR job.state = 'active') AND NOT ${isLive("held")}`,
      [project, jobs.map(({ queue }) => queue), jobs.map(({ task }) => task), leaseMs],
    );
    const found = rows.flatMap(({ index, id, retryCount }) => {
      const job = jobs[index];
      return job === undefined ? [] : [{ job, id, retryCount }];
    });
    return {
      unknown: found.flatMap(({ job, id }) => (id === null ? [job] : [])),
      stranded: found.flatMap(({ job, id, retryCount }) =>
        id === null ? [] : [{ queue: job.queue, id, retryCount }],
      ),
    };
  }

  async put(project: string, jobs: readonly WaitingJob[]): Promise<void> {
    for (const [queue, ofQueue] of Map.groupBy(jobs, ({ queue }) => queue)) {
      await this.#ensureQueue(queue);
      await this.#boss.insert(
        queue,
        ofQueue.map(({ task, priority }) => ({
          data: { project, task },
          singletonKey: task,
          priority,
          expireInSeconds: NEVER_SECONDS,
        })),
      );
    }
  }

  async look(project: string, leaseMs: number, queues: readonly string[], count: number): Promise<Look> {
    const rows = await this.#database.query<{
      queue: string;
      id: string | null;
      retryCount: number;
      waiting: number;
    }>(
      `WITH ${clock("$2")},
       best AS (
         SELECT queue.name FROM unnest($3::text[]) AS queue (name)
         CROSS JOIN LATERAL (
           SELECT priority, created_on FROM ${SCHEMA}.job
           WHERE job.name = queue.name AND state < 'active' AND NOT blocked
           ORDER BY priority DESC, created_on LIMIT $4
         ) AS job
         ORDER BY job.priority DESC, job.created_on LIMIT $4
       ),
       overdue AS MATERIALIZED (
         SELECT name FROM ralph.leases AS held CROSS JOIN clock WHERE project = $1 AND ${isOverdue("held")}
       )
       SELECT name AS queue, NULL::uuid AS id, 0 AS "retryCount", count(*)::int AS waiting FROM best GROUP BY name
       UNION ALL
       SELECT queue.name, job.id, job.retry_count, 0
       FROM overdue CROSS JOIN unnest($3::text[]) AS queue (name)
       CROSS JOIN LATERAL ${jobOf("queue.name", "overdue.name", "state = 'active'")} AS job`,
      [project, leaseMs, queues, count],
    );
    return {
      waiting: new Map(rows.flatMap(({ queue, id, waiting }) => (id === null ? [[queue, waiting]] : []))),
      stranded: rows.flatMap(({ queue, id, retryCount }) => (id === null ? [] : [{ queue, id, retryCount }])),
    };
  }

  /** So that `fetch` asks for nothing outside of its transaction, which would wait for another connection. */
  async prepare(queues: Iterable<string>): Promise<void> {
    for (const queue of queues) {
      if (this.#queues.has(queue)) continue;
      await this.#boss.findJobs(queue, { id: NO_JOB });
      this.#queues.add(queue);
    }
  }

  /** The best ones of a queue, delivered if the transaction is. */
  async fetch(transaction: Transaction, queue: string, count: number): Promise<readonly FetchedJob[]> {
    const jobs = await this.#boss.fetch<{ task: TaskId }>(queue, {
      batchSize: count,
      includeMetadata: true,
      db: hand(transaction),
    });
    return jobs.map(({ id, retryCount, priority, data }) => ({
      queue,
      id,
      retryCount,
      priority,
      task: data.task,
    }));
  }

  async complete(transaction: Transaction, deliveries: readonly Delivery[]): Promise<void> {
    for (const [queue, jobs] of Map.groupBy(deliveries, ({ queue }) => queue))
      await this.#boss.complete(queue, jobs, null, { db: hand(transaction) });
  }

  /** Lets them be delivered anew. */
  async giveBack(deliveries: readonly Delivery[]): Promise<void> {
    for (const [queue, jobs] of Map.groupBy(deliveries, ({ queue }) => queue))
      await this.#boss.fail(queue, jobs);
  }

  /** Has old jobs deleted, unless another worker has lately. */
  async tidy(): Promise<void> {
    await this.#boss.supervise();
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }

  async #ensureQueue(queue: string): Promise<void> {
    if (this.#queues.has(queue)) return;
    // A task has at most one job that waits or is delivered. Finished ones are of no use to anybody.
    await this.#boss.createQueue(queue, {
      policy: "exclusive",
      retryLimit: RETRIES,
      retryDelay: 0,
      deleteAfterSeconds: TIDY_SECONDS,
    });
    this.#queues.add(queue);
  }
}

/** The job of a task, by the index of its policy; a limit keeps the planner from reading the whole table instead. */
function jobOf(queue: string, task: string, state: string): string {
  return `(
    SELECT id, state, retry_count FROM ${SCHEMA}.job
    WHERE name = ${queue} AND coalesce(singleton_key, '') = ${task} AND policy = 'exclusive' AND ${state} LIMIT 1
  )`;
}

/** Of several who make the same tables at the same moment one succeeds; the others then find them. */
async function startAmongOthers(boss: PgBoss): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await boss.start();
      return;
    } catch (error) {
      if (attempt === 5 || !isAlreadyThere(error)) throw error;
    }
  }
}

/** By SQLSTATE: a schema, table or type of that name, or its row in the catalogue. */
function isAlreadyThere(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(42P06|42P07|42710|23505)$/.test(String(error.code));
}

interface Hand {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: object[] }>;
}

/** Several statements at once answer nothing that we or pg-boss would need. */
function hand(database: Transaction): Hand {
  return {
    executeSql: async (text, values = []) => {
      const rows = await database.query<object>(text, values);
      return { rows: [...(rows ?? [])] };
    },
  };
}
