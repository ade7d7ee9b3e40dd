import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Client } from "pg";

/** As a server is that loses nothing, which those of tests may. */
export const DURABLE = [
  "fsync = on",
  "full_page_writes = on",
  "autovacuum = on",
  "shared_buffers = 256MB",
  "max_connections = 1500",
  "shared_preload_libraries = 'pg_stat_statements'",
];

/** What a server has done since it was started, as far as it counts. */
export interface ServerLoad {
  readonly commits: number;
  readonly statements: number;
  /** That statements looked at, in memory or on disk. */
  readonly blocks: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly walBytes: number;
  readonly cpuMs: number;
}

/** Looks at a server of this machine, over a connection that is left out of what it counts, but for its few looks. */
export class ServerWatch {
  readonly #client: Client;
  readonly #postmaster: number;

  private constructor(client: Client, postmaster: number) {
    this.#client = client;
    this.#postmaster = postmaster;
  }

  static async open(url: string): Promise<ServerWatch> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    return new ServerWatch(client, parentOf(rows[0]?.pid ?? 0));
  }

  async look(): Promise<ServerLoad> {
    const { rows } = await this.#client.query<Record<string, string>>(
      `SELECT xact_commit AS commits, tup_returned + tup_fetched AS read,
              tup_inserted + tup_updated + tup_deleted AS written,
              asked.statements, asked.blocks,
              pg_current_wal_lsn() - '0/0'::pg_lsn AS wal
       FROM pg_stat_database, (
         SELECT sum(calls) AS statements, sum(shared_blks_hit + shared_blks_read) AS blocks
         FROM pg_stat_statements WHERE query !~ 'pg_stat'
       ) AS asked
       WHERE datname = current_database()`,
    );
    const numberOf = (name: string): number => Number(rows[0]?.[name]);
    return {
      commits: numberOf("commits"),
      statements: numberOf("statements"),
      blocks: numberOf("blocks"),
      rowsRead: numberOf("read"),
      rowsWritten: numberOf("written"),
      walBytes: numberOf("wal"),
      cpuMs: this.#cpuMs(),
    };
  }

  /** The statements that were asked most often, by what they cost the server. */
  async dearest(count: number): Promise<readonly Dearest[]> {
    const { rows } = await this.#client.query<Dearest>(
      `SELECT calls::int, total_exec_time AS ms, rows::int, regexp_replace(query, '\\s+', ' ', 'g') AS query
       FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT $1`,
      [count],
    );
    return rows;
  }

  async forget(): Promise<void> {
    await this.#client.query("SELECT pg_stat_statements_reset()");
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  #cpuMs(): number {
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", `${this.#postmaster}`], {
      encoding: "utf8",
    });
    const pids = children.split("\n").map(Number).filter(Boolean);
    const ofChildren = pids.map((pid) => ticksOf(pid)).reduce((sum, { own }) => sum + own, 0);
    const { own, ended } = ticksOf(this.#postmaster);
    return (own + ended + ofChildren) * 10;
  }
}

export interface Dearest {
  readonly calls: number;
  readonly ms: number;
  readonly rows: number;
  readonly query: string;
}

/** In hundredths of a second, as Linux counts them for everybody. */
function ticksOf(pid: number): { readonly own: number; readonly ended: number } {
  const [, , , , , , , , , , , user = 0, system = 0, endedUser = 0, endedSystem = 0] =
    statOf(pid).map(Number);
  return { own: user + system, ended: endedUser + endedSystem };
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1]);
}

/** From the state of the process on: its name, before that, may have spaces. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
