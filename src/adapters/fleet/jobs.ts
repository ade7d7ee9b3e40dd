import { PgBoss } from "pg-boss";
import type { TaskId } from "../../core/plan.ts";
import type { Database, Transaction } from "./database.ts";
import { clock, isLive } from "./leases.ts";

export interface WaitingJob {
  readonly queue: string;
  readonly task: TaskId;
  /** The highest first. */
  readonly priority: number;
}

const SCHEMA = "ralph_jobs";

const TIDY_SECONDS = 600;
const NO_JOB = "00000000-0000-0000-0000-000000000000";

/**
 * The jobs of pg-boss. A job says "go on with this task" to whoever comes first, and is done when the task's lease is
 * given out, in the same transaction. From then on the lease alone counts, so none of pg-boss's clocks matter, which
 * know nothing of a server that was away. Jobs are delivered by pg-boss; the two looks below only read its table `job`,
 * by its indexes.
 */
export class Jobs {
  readonly #database: Database;
  readonly #boss: PgBoss;
  /** Those that pg-boss has heard of. */
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

  /** Those that have no job yet, and whose task nobody holds or can take over from a silent worker. */
  async missing(
    project: string,
    leaseMs: number,
    jobs: readonly WaitingJob[],
  ): Promise<readonly WaitingJob[]> {
    const rows = await this.#database.query<{ index: number }>(
      `WITH ${clock("$4")}
       SELECT offered.index::int - 1 AS index
       FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS offered (queue, task, index)
       CROSS JOIN clock
       -- By the index of its policy; a limit keeps the planner from reading the whole table instead.
       LEFT JOIN LATERAL (
         SELECT id FROM ${SCHEMA}.job
         WHERE name = offered.queue AND coalesce(singleton_key, '') = offered.task
           AND policy = 'exclusive' AND state <= 'active' LIMIT 1
       ) AS job ON true
       LEFT JOIN ralph.leases AS held ON held.project = $1 AND held.name = offered.task
       WHERE job.id IS NULL AND NOT ${isLive("held")}
         AND (held.expires_at IS NULL OR held.queue IS DISTINCT FROM offered.queue)`,
      [project, jobs.map(({ queue }) => queue), jobs.map(({ task }) => task), leaseMs],
    );
    return rows.flatMap(({ index }) => jobs[index] ?? []);
  }

  async put(project: string, jobs: readonly WaitingJob[]): Promise<void> {
    for (const [queue, ofQueue] of Map.groupBy(jobs, ({ queue }) => queue)) {
      // A task has at most one job that waits. Finished ones are of no use to anybody.
      await this.#boss.createQueue(queue, { policy: "exclusive", deleteAfterSeconds: TIDY_SECONDS });
      await this.#boss.insert(
        queue,
        ofQueue.map(({ task, priority }) => ({
          data: { project, task },
          singletonKey: task,
          priority,
        })),
      );
    }
  }

  /** How many of the best jobs wait in which of the queues. */
  async look(queues: readonly string[], count: number): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.query<{ queue: string; waiting: number }>(
      `WITH best AS (
         SELECT queue.name FROM unnest($1::text[]) AS queue (name)
         CROSS JOIN LATERAL (
           SELECT priority, created_on FROM ${SCHEMA}.job
           WHERE job.name = queue.name AND state < 'active' AND NOT blocked
           ORDER BY priority DESC, created_on LIMIT $2
         ) AS job
         ORDER BY job.priority DESC, job.created_on LIMIT $2
       )
       SELECT name AS queue, count(*)::int AS waiting FROM best GROUP BY name`,
      [queues, count],
    );
    // So that `take` asks for nothing outside of its transaction, which would wait for another connection.
    for (const { queue } of rows) {
      if (!this.#queues.has(queue)) await this.#boss.findJobs(queue, { id: NO_JOB });
      this.#queues.add(queue);
    }
    return new Map(rows.map(({ queue, waiting }) => [queue, waiting]));
  }

  /** The best ones of each queue, which are done if the transaction is. */
  async take(transaction: Transaction, waiting: ReadonlyMap<string, number>): Promise<readonly WaitingJob[]> {
    const db = hand(transaction);
    const taken: WaitingJob[] = [];
    for (const [queue, batchSize] of waiting) {
      const jobs = await this.#boss.fetch<{ task: TaskId }>(queue, { batchSize, includeMetadata: true, db });
      if (jobs.length > 0)
        await this.#boss.complete(
          queue,
          jobs.map(({ id }) => id),
          null,
          { db },
        );
      taken.push(...jobs.map(({ priority, data }) => ({ queue, priority, task: data.task })));
    }
    return taken.toSorted((a, b) => b.priority - a.priority);
  }

  /** Has old jobs deleted, unless another worker has lately. */
  async tidy(): Promise<void> {
    await this.#boss.supervise();
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }
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
