import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { preparePrograms, serverUser, type Programs } from "./postgres-programs.ts";

export interface TestServer {
  readonly url: string;
  /** Ends all connections and writes everything down. */
  stop(): Promise<void>;
  /** On the same port, with the same data. */
  start(): Promise<void>;
  restart(): Promise<void>;
  /** `kill -9`: everything of it is gone at once. */
  kill(): Promise<void>;
  /** Makes nothing answer any longer, until it is thawed. */
  freeze(): void;
  thaw(): void;
  /** Stops it for good and removes its files; happens of itself when this process ends, however it ends. */
  remove(): Promise<void>;
}

export interface ServerOptions {
  /** Lines for `postgresql.conf`. */
  readonly configuration?: readonly string[];
  /** Files beside it, readable for the server alone. */
  readonly files?: Readonly<Record<string, string>>;
  /** Instead of the usual `pg_hba.conf`. */
  readonly access?: string;
}

const PASSWORD = "secret-of-the-test";
const START_PATIENCE_MS = 60_000;

/** A server of one's own, with an empty cluster; user and database are `postgres`. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-postgres-"));
  const guard = guardFolder(folder);
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o755);
  const programs = preparePrograms(folder);
  const port = await freePort();
  initialise(folder, programs, port, options);
  const server = new Server(folder, programs, port, guard);
  await server.start();
  return server;
}

class Server implements TestServer {
  readonly url: string;
  readonly #folder: string;
  readonly #programs: Programs;
  readonly #guard: ChildProcess;
  #process: ChildProcess | null = null;

  constructor(folder: string, programs: Programs, port: number, guard: ChildProcess) {
    this.url = `postgres://postgres:${PASSWORD}@localhost:${port}/postgres`;
    this.#folder = folder;
    this.#programs = programs;
    this.#guard = guard;
  }

  async start(): Promise<void> {
    const log = openSync(join(this.#folder, "log"), "a");
    const child = spawn(this.#programs.postgres, ["-D", join(this.#folder, "data")], {
      ...this.#programs.options,
      stdio: ["ignore", log, log],
      detached: true,
    });
    closeSync(log);
    child.unref();
    this.#process = child;
    const deadline = performance.now() + START_PATIENCE_MS;
    while (!this.#isReady(child)) {
      if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline)
        throw new Error(`Postgres did not start: ${readFileSync(join(this.#folder, "log"), "utf8")}`);
      await sleep(10);
    }
  }

  async stop(): Promise<void> {
    await this.#end("SIGINT");
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async kill(): Promise<void> {
    this.#signalAll("SIGKILL");
    await this.#end("SIGKILL");
  }

  freeze(): void {
    this.#signalAll("SIGSTOP");
  }

  thaw(): void {
    this.#signalAll("SIGCONT");
  }

  async remove(): Promise<void> {
    this.thaw();
    await this.#end("SIGQUIT");
    const gone = once(this.#guard, "exit");
    this.#guard.ref();
    this.#guard.stdin?.end();
    await gone;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.ref();
    child.kill(signal);
    await gone;
  }

  /** Its processes have sessions of their own, so a group would not do. */
  #signalAll(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", `${pid}`], { encoding: "utf8" });
    for (const one of [pid, ...children.split("\n").map(Number).filter(Boolean)]) {
      try {
        process.kill(one, signal);
      } catch {
        // gone already
      }
    }
  }

  #isReady(child: ChildProcess): boolean {
    try {
      const lines = readFileSync(join(this.#folder, "data/postmaster.pid"), "utf8").split("\n");
      return Number(lines[0]) === child.pid && lines[7]?.trim() === "ready";
    } catch {
      return false;
    }
  }
}

function initialise(folder: string, programs: Programs, port: number, options: ServerOptions): void {
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  writeOwned(passwordFile, `${PASSWORD}\n`);
  const quick = ["--no-sync", "--no-instructions", "--locale=C", "--encoding=UTF8"];
  execFileSync(
    programs.initdb,
    [...quick, `--pgdata=${data}`, "--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`],
    { ...programs.options, stdio: ["ignore", "pipe", "pipe"] },
  );
  const configuration = [
    `port = ${port}`,
    "listen_addresses = 'localhost'",
    "unix_socket_directories = ''",
    // Killing the processes loses nothing that was written; only a machine that fails would.
    "fsync = off",
    "full_page_writes = off",
    "shared_buffers = 32MB",
    "autovacuum = off",
    ...(options.configuration ?? []),
  ];
  appendFileSync(join(data, "postgresql.conf"), `${configuration.join("\n")}\n`);
  for (const [name, text] of Object.entries(options.files ?? {})) writeOwned(join(data, name), text);
  if (options.access !== undefined) writeFileSync(join(data, "pg_hba.conf"), options.access);
}

function writeOwned(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  const user = serverUser();
  if (user !== null) chownSync(file, user.uid, user.gid);
}

/** Waits for the end of this process, then ends the server and removes the folder. */
function guardFolder(folder: string): ChildProcess {
  const script = `trap "" INT TERM HUP
    cat >/dev/null
    pid=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null)
    if [ -n "$pid" ]; then kill -CONT "$pid"; kill -QUIT "$pid"; fi 2>/dev/null
    tries=0
    while [ -n "$pid" ] && [ -d "/proc/$pid" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    # Something may still be writing there: initdb, or what a killed server had started.
    tries=0
    until rm -rf "$0" 2>/dev/null && sleep 0.2 && [ ! -e "$0" ] || [ $tries -ge 50 ]; do tries=$((tries + 1)); done`;
  const guard = spawn("sh", ["-c", script, folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  guard.unref();
  (guard.stdin as unknown as { unref?(): void }).unref?.();
  return guard;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
