import { setTimeout as sleep } from "node:timers/promises";
import {
  Client,
  type ClientConfig,
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type QueryResult,
  types,
} from "pg";
import { RalphError } from "../../core/errors.ts";
import { type ConnectionSettings, readUrl } from "./connection-settings.ts";

export interface DatabaseOptions {
  /** Shown by the server beside our connections. */
  readonly applicationName?: string;
  /** How long an operation waits for a server that is away; Infinity for a worker. */
  readonly patienceMs?: number;
  /** Hears once what is wrong when the server goes away, and null when it is back. */
  readonly onTrouble?: (message: string | null) => void;
  readonly maxConnections?: number;
  /** A server that has not answered after so long is taken to be away. */
  readonly answerMs?: number;
}

export type Transaction = Pick<Database, "query">;

const OLDEST_SERVER = 13;
const CONNECT_MS = 5_000;
/** What is under way when it is closed may take so long to end. */
const CLOSE_MS = 3_000;

/** Opens it and looks whether it can be used at all. */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = new Database(readUrl(url), options);
  try {
    await database.examine();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A database on a server that may be away for a while: whatever is asked of it waits until it is back. */
export class Database {
  /** HOST:PORT/NAME, for people. */
  readonly name: string;
  readonly #settings: ConnectionSettings;
  readonly #options: DatabaseOptions;
  readonly #pool: Pool;
  #hasTls: boolean;
  #isInTrouble = false;
  readonly #asking = new Set<() => void>();
  readonly #closed = Promise.withResolvers<never>();

  constructor(settings: ConnectionSettings, options: DatabaseOptions) {
    this.name = settings.name;
    this.#settings = settings;
    this.#options = options;
    this.#hasTls = settings.tls !== false;
    // Given to the pool, it would also make it give up on whoever waits for a free connection.
    const OurClient = clientOf(() => this.#clientConfig());
    this.#pool = new Pool({ Client: OurClient, max: options.maxConnections ?? 4, idleTimeoutMillis: 60_000 });
    this.#closed.promise.catch(() => {}); // told to those who wait
    this.#pool.on("error", () => {}); // an idle connection was lost: the next one to need it gets another
    this.#pool.on("connect", (client) => client.on("error", () => {})); // told to whoever is using it
  }

  async examine(): Promise<void> {
    const [server] = await this.query<{ version: string; encoding: string }>(
      "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
    );
    const version = Math.floor(Number(server?.version) / 10_000);
    if (version < OLDEST_SERVER)
      throw new RalphError("config", `the server of ${this.name} is Postgres ${version}`, {
        hint: `use Postgres ${OLDEST_SERVER} or later`,
      });
    if (server?.encoding !== "UTF8")
      throw new RalphError("config", `the database ${this.name} has the encoding ${server?.encoding}`, {
        hint: "create it with ENCODING 'UTF8'",
      });
  }

  /** One statement (or several without values) that may be run twice without harm. */
  query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#untilBack(() =>
      this.#withClient(async (client) => {
        try {
          return (await this.#ask<Row>(client, sql, values)).rows;
        } catch (error) {
          // It may have begun a transaction, and whether it did is not known yet.
          if (!isConnectionTrouble(error)) await this.#ask(client, "ROLLBACK").catch(() => {});
          throw error;
        }
      }),
    );
  }

  /**
   * All of the work or nothing. It is done again from the start when the connection was lost, or another transaction
   * was in the way. When it was lost during COMMIT, nobody knows whether it happened: `happened` is asked in the next
   * transaction, and has to begin by waiting for a lock that the work holds, as the old one may be about to commit.
   * Without it the work is one that may be done twice.
   */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    happened?: (transaction: Transaction, result: Result) => Promise<boolean>,
  ): Promise<Result> {
    let inDoubt: { readonly result: Result } | undefined;
    return this.#untilBack(() =>
      this.#inTransaction(async (transaction, client) => {
        if (inDoubt !== undefined && (await happened?.(transaction, inDoubt.result)) === true)
          return inDoubt.result;
        inDoubt = undefined;
        const result = await work(transaction);
        inDoubt = { result };
        const { command } = await this.#ask(client, "COMMIT");
        if (command !== "COMMIT") throw new Error(`the work went on after an error: ${command}`);
        return result;
      }),
    );
  }

  /** A connection that is the caller's alone and ends with it; tried once. */
  async connect(): Promise<Client> {
    const client = new Client(this.#clientConfig());
    client.on("error", () => {}); // the caller sees the end of it
    try {
      await client.connect();
      return client;
    } catch (error) {
      void client.end().catch(() => {});
      this.#noteTlsRefusal(error);
      throw databaseError(error, this.name);
    }
  }

  async close(): Promise<void> {
    if (this.#pool.ending) return;
    this.#closed.reject(new Error(`the connection to ${this.name} was closed`));
    const patience = setTimeout(() => {
      for (const giveUp of this.#asking) giveUp();
    }, CLOSE_MS);
    await this.#pool.end();
    clearTimeout(patience);
  }

  #clientConfig(): ClientConfig {
    const { tls, name: _, ...place } = this.#settings;
    return {
      ...place,
      ssl: tls !== false && this.#hasTls ? tls.options : false,
      application_name: this.#options.applicationName ?? "ralph",
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: NUMBERS,
    };
  }

  /** Where TLS was only preferred, a server without it is asked again without it. */
  #noteTlsRefusal(error: unknown): boolean {
    const { tls } = this.#settings;
    if (tls === false || !tls.isOptional || !this.#hasTls) return false;
    if (!/does not support SSL/.test(messageOf(error))) return false;
    this.#hasTls = false;
    return true;
  }

  async #inTransaction<Result>(
    work: (transaction: Transaction, client: PoolClient) => Promise<Result>,
  ): Promise<Result> {
    return this.#withClient(async (client) => {
      // A process that is stopped in between must not keep its locks.
      await this.#ask(client, "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '15s'");
      try {
        const query: Transaction["query"] = async (sql, values) =>
          (await this.#ask<never>(client, sql, values)).rows;
        return await work({ query }, client);
      } finally {
        if (client.getTransactionStatus() !== "I") await this.#ask(client, "ROLLBACK").catch(() => {});
      }
    });
  }

  /** A connection that was lost, or is in the middle of something, is not used again. */
  async #withClient<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#freeClient();
    let isLost = false;
    try {
      return await work(client);
    } catch (error) {
      isLost = isConnectionTrouble(error);
      throw error;
    } finally {
      client.release(isLost || client.getTransactionStatus() !== "I");
    }
  }

  /** The pool forgets those who wait for a connection when it is closed; here they are told. */
  async #freeClient(): Promise<PoolClient> {
    const connecting = this.#pool.connect();
    try {
      return await Promise.race([connecting, this.#closed.promise]);
    } catch (error) {
      connecting.then(
        (late) => late.release(true),
        () => {},
      );
      throw error;
    }
  }

  async #ask<Row extends object>(
    client: PoolClient,
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    const answerMs = this.#options.answerMs ?? 30_000;
    const { promise: silence, reject } = Promise.withResolvers<never>();
    const giveUp = (): void => reject(new Error(`no answer within ${answerMs / 1000} s`));
    const timer = setTimeout(giveUp, answerMs);
    this.#asking.add(giveUp);
    try {
      // Without values several statements may be asked at once.
      const asked = values.length === 0 ? client.query<Row>(sql) : client.query<Row>(sql, [...values]);
      asked.catch(() => {}); // it may fail after nobody waits for it any longer
      const answer: QueryResult<Row> | QueryResult<Row>[] = await Promise.race([asked, silence]);
      return Array.isArray(answer) ? (answer.at(-1) as QueryResult<Row>) : answer;
    } finally {
      clearTimeout(timer);
      this.#asking.delete(giveUp);
    }
  }

  async #untilBack<Result>(work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + (this.#options.patienceMs ?? 10_000);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await work();
        this.#tellTrouble(null);
        return result;
      } catch (error) {
        if (this.#noteTlsRefusal(error)) continue;
        if (!isClash(error)) {
          if (!isConnectionTrouble(error) || this.#pool.ending) throw databaseError(error, this.name);
          if (performance.now() >= deadline) throw unreachable(error, this.name);
          this.#tellTrouble(messageOf(error));
        }
      }
      // Random, so that many who wait do not all come back at the same moment.
      await sleep(Math.min(25 * 2 ** Math.min(attempt, 6), 1_000) * (0.5 + Math.random() / 2));
    }
  }

  #tellTrouble(message: string | null): void {
    const isInTrouble = message !== null;
    if (isInTrouble === this.#isInTrouble) return;
    this.#isInTrouble = isInTrouble;
    this.#options.onTrouble?.(message === null ? null : unreachable(new Error(message), this.name).message);
  }
}

/** Positions, times and counts are far below 2^53. */
const NUMBERS: CustomTypesConfig = {
  getTypeParser: ((...wanted: Parameters<typeof types.getTypeParser>) =>
    wanted[0] === types.builtins.INT8
      ? Number
      : types.getTypeParser(...wanted)) as typeof types.getTypeParser,
};

/** For a pool: clients by our settings, which hang up when they were not let in; the driver leaves the line open. */
function clientOf(config: () => ClientConfig): new () => Client {
  return class extends Client {
    constructor() {
      super(config());
    }

    override connect(): Promise<Client>;
    override connect(done: Done): void;
    override connect(done?: Done): Promise<Client> | void {
      if (done === undefined) return super.connect();
      super.connect((error: Error) => {
        if (error instanceof Error) void this.end();
        (done as (error: Error) => void)(error);
      });
    }
  };
}

type Done = ((error: Error) => void) | ((error: null, client: Client) => void);

/** Whether the server could not be reached or sent us away for now; the same may well succeed later. */
export function isConnectionTrouble(error: unknown): boolean {
  if (error instanceof RalphError) return error.code === "unreachable";
  return SERVER_AWAY.test(codeOf(error)) || LOST.test(messageOf(error));
}

/** Two transactions were in each other's way; one of them has to try again, and may at once. */
function isClash(error: unknown): boolean {
  return /^40(001|P01)$/.test(codeOf(error));
}

/** What the database refused, in words that a person can act on. */
function databaseError(error: unknown, name: string): Error {
  if (error instanceof RalphError) return error;
  const code = codeOf(error);
  const refusal = REFUSALS.find(({ codes }) => codes.test(code) || codes.test(messageOf(error)));
  if (refusal === undefined) return error instanceof Error ? error : new Error(String(error));
  const message = `the database ${name} ${refusal.says} (${messageOf(error)})`;
  return new RalphError(refusal.code, message, { hint: refusal.hint, cause: error });
}

function unreachable(error: unknown, name: string): RalphError {
  return new RalphError("unreachable", `the database ${name} cannot be reached: ${messageOf(error)}`, {
    hint: "see whether it runs and whether [queue] url is right; nothing that was recorded is lost",
    cause: error,
  });
}

/** One line; errors of several addresses of a host are one error. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) {
    const each = new Set(error.errors.map((one) => messageOf(one)));
    if (each.size > 0) return [...each].join(", ");
  }
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").trim();
}

/**
 * By SQLSTATE: connection exceptions, shut down or starting (57P), too many connections (53300), a standby that only
 * reads (25006), a transaction that idled too long (25P03). By Node: what sockets and names can go through.
 */
const SERVER_AWAY =
  /^(08...|57P0[1235]|53300|25006|25P03|E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|(HOST|NET)(UNREACH|DOWN)|NOTFOUND|AI_AGAIN|ADDRNOTAVAIL|NOENT))$/;

/** What the driver says without a code. */
const LOST =
  /^(Connection terminated|timeout expired|Client (has encountered a connection error|was closed)|There was an error establishing an SSL|no answer within)/;

interface Refusal {
  readonly codes: RegExp;
  readonly code: "config" | "state-unusable" | "disk-full";
  readonly says: string;
  readonly hint: string;
}

const REFUSALS: readonly Refusal[] = [
  {
    codes: /^(28...)$|^SASL/,
    code: "config",
    says: "does not let us in",
    hint: "check user, password and sslmode in [queue] url; the password may also be in PGPASSWORD",
  },
  {
    codes: /^3D000$/,
    code: "config",
    says: "does not exist",
    hint: "create it, or name another one in [queue] url",
  },
  {
    codes: /^(.*CERT.*|UNABLE_TO_.*|ERR_TLS.*|ERR_SSL.*|EPROTO|The server does not support SSL.*)$/,
    code: "config",
    says: "cannot be reached by TLS as it was asked for",
    hint: "check sslmode and sslrootcert in [queue] url",
  },
  {
    codes: /^(42501)$/,
    code: "state-unusable",
    says: "does not give us the rights that we need",
    hint: "let the owner of the database run ralph submit once, then grant the worker's role its rights on the schemas ralph and ralph_jobs",
  },
  {
    codes: /^(53100|53200)$/,
    code: "disk-full",
    says: "has no space left; nothing that was recorded is lost",
    hint: "free some space on the database's machine, then start ralph again",
  },
  {
    codes: /^(XX00[12]|57P04|42P01|3F000)$/,
    code: "state-unusable",
    says: "cannot be used",
    hint: "look at the log of the database",
  },
];

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
