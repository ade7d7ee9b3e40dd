import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { addressOf } from "../../core/network/address.ts";
import { writeTarget, type Target } from "../../core/network/allowed-hosts.ts";
import { openTunnel } from "./open-tunnel.ts";
import { untilConnected } from "./until-connected.ts";

/** The proxy through which the operator's own programs reach a host. */
export interface OperatorProxy {
  readonly url: URL;
  /** For its own eyes; null when it asks for none. */
  readonly authorization: string | null;
}

type Environment = Readonly<Record<string, string>>;

/** As the variables say that programs heed outside; null: a host is reached without one. */
export function operatorProxy(
  env: Environment,
  scheme: "http" | "https",
  { host }: Target,
): OperatorProxy | null {
  const text = valueOf(env, `${scheme}_proxy`) ?? valueOf(env, "all_proxy");
  if (text === undefined || isExempt(host, valueOf(env, "no_proxy") ?? "")) return null;
  const address = /^\w+:\/\//.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { url, authorization: login === ":" ? null : `Basic ${Buffer.from(login).toString("base64")}` };
}

export async function connectToProxy({ url }: OperatorProxy, signal: AbortSignal): Promise<Socket> {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const place = { host, port: Number(url.port || (isTls ? 443 : 80)) };
  const socket = isTls
    ? connectTls({ ...place, ...(addressOf(host) === null && { servername: host }) })
    : connect({ ...place, allowHalfOpen: true });
  return untilConnected(socket, isTls ? "secureConnect" : "connect", signal);
}

/** A way to the host that the operator's proxy opens; throws when it does not. */
export async function tunnelThrough(
  proxy: OperatorProxy,
  target: Target,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await connectToProxy(proxy, signal);
  const login = proxy.authorization === null ? {} : { "Proxy-Authorization": proxy.authorization };
  const status = await openTunnel(socket, writeTarget(target), login);
  if (status === 200) return socket;
  socket.destroy();
  throw new Error(`your own proxy ${proxy.url.host} answers ${status}`);
}

function valueOf(env: Environment, name: string): string | undefined {
  return (env[name] ?? env[name.toUpperCase()])?.trim() || undefined;
}

function isExempt(host: string, exempt: string): boolean {
  const entries = exempt
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  return entries.some((entry) => {
    const name = entry.replace(/^\*?\.?/, "");
    return entry === "*" || host === name || (name !== "" && host.endsWith(`.${name}`));
  });
}
