import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Stands between a client and a database, and can be as bad as a network. */
export interface CuttableProxy {
  /** The same database, through the proxy. */
  readonly url: string;
  /** Ends all connections at once; new ones are let through. */
  cut(): void;
  /** From now on nothing gets through in either direction, and nobody is told. */
  hold(): void;
  /** What was held gets through after all. */
  release(): void;
  /**
   * So many of the next connections that send a COMMIT are cut right then; the server still gets it, perhaps late, and
   * no answer comes back.
   */
  cutAfterCommit(times: number, lateMs?: number): void;
  /** So many are cut right before it. */
  cutBeforeCommit(times: number): void;
  /** How many were cut at a COMMIT so far. */
  readonly cuts: number;
  close(): Promise<void>;
}

const COMMIT = Buffer.from("COMMIT\0");

export async function cuttableProxy(url: string): Promise<CuttableProxy> {
  const target = new URL(url);
  const proxy = new Proxy(target.hostname, Number(target.port));
  await proxy.listen();
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = `${proxy.port}`;
  return Object.assign(proxy, { url: through.href });
}

class Proxy {
  readonly #host: string;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#serve(client));
  #isHeld = false;
  #after = 0;
  #lateMs = 0;
  #before = 0;
  cuts = 0;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.pause();
  }

  release(): void {
    this.#isHeld = false;
    for (const socket of this.#sockets) socket.resume();
  }

  cutAfterCommit(times: number, lateMs = 0): void {
    this.#after = times;
    this.#lateMs = lateMs;
  }

  cutBeforeCommit(times: number): void {
    this.#before = times;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }

  #serve(client: Socket): void {
    const server = connect(this.#port, this.#host);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      if (this.#isHeld) one.pause();
    }
    client.on("data", (bytes: Buffer) => this.#pass(bytes, client, server));
    server.on("data", (bytes: Buffer) => client.write(bytes));
  }

  #pass(bytes: Buffer, client: Socket, server: Socket): void {
    const isCommit = bytes.includes(COMMIT);
    if (isCommit && this.#before > 0) {
      this.#before -= 1;
      this.cuts += 1;
      client.destroy();
    } else if (isCommit && this.#after > 0) {
      this.#after -= 1;
      this.cuts += 1;
      server.removeAllListeners("data");
      server.resume();
      setTimeout(() => server.end(bytes), this.#lateMs);
      client.removeAllListeners("close");
      client.on("close", () => this.#sockets.delete(client));
      client.destroy();
    } else {
      server.write(bytes);
    }
  }
}
