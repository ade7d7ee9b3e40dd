// Runs in a sandbox that has no network but its own loopback, and starts the agent there. What the agent sends to its
// proxy, or to one of the ports that lead to the machine outside, goes through a socket to the filter, which alone
// decides who is reached. Nothing rests on this program: it is the agent's to do with as it likes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { constants } from "node:os";
import { joinSockets, openTunnel, socketPath, tieSockets } from "./adapters/sandbox/open-tunnel.ts";

interface Bridge {
  /** Where the filter listens. */
  readonly socket: string;
  /** Each `host:port` of the machine outside that is to be found at the same port in here. */
  readonly ports: readonly string[];
}

const [settings = "{}", program = "", ...args] = process.argv.slice(2);
const { socket, ports } = JSON.parse(settings) as Bridge;
const filter = socketPath(socket).path;

// Told to end, the agent is told itself, and we end when it does.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const) process.on(signal, () => {});

for (const target of ports) await leadOutside(target);
const proxyPort = await listen(0, "127.0.0.1", (inside) => {
  const outside = connectToFilter();
  tieSockets(inside, outside);
  joinSockets(inside, outside);
});
const agent = spawn(program, args, {
  stdio: "inherit",
  env: { ...process.env, ...proxyVariables(proxyPort) },
});
agent.on("error", (error) => {
  process.stderr.write(`cannot start "${program}" in the sandbox: ${error.message}\n`);
  process.exit(127);
});
agent.on("exit", (code, signal) => {
  process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
});

function proxyVariables(port: number): NodeJS.ProcessEnv {
  const proxy = `http://127.0.0.1:${port}`;
  const variables = {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    // What listens in the sandbox itself, and the ports that lead outside.
    NO_PROXY: "localhost,127.0.0.1,::1",
  };
  const small = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...variables, ...Object.fromEntries(small), NODE_USE_ENV_PROXY: "1" };
}

async function leadOutside(target: string): Promise<void> {
  const [, host = "", port = ""] = /^(.+):(\d+)$/.exec(target) ?? [];
  const addresses = host === "localhost" ? ["127.0.0.1", "::1"] : [host.replace(/^\[|\]$/g, "")];
  for (const address of addresses) {
    await listen(Number(port), address, (inside) => void askForTunnel(inside, target)).catch(
      (error: unknown) => {
        // A kernel without IPv6 has none in here either.
        if (address !== "::1" || addresses.length === 1) throw error;
      },
    );
  }
}

async function listen(port: number, host: string, take: (inside: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, take).listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function connectToFilter(): Socket {
  return connect({ path: filter, allowHalfOpen: true });
}

async function askForTunnel(inside: Socket, target: string): Promise<void> {
  const outside = connectToFilter();
  tieSockets(inside, outside);
  const status = await openTunnel(outside, target).catch(() => 502);
  if (status === 200) joinSockets(inside, outside);
  else inside.destroy();
}
