import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { BlockList, connect, isIPv6, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import {
  addressOf,
  allowance,
  type AllowedHost,
  isLoopback,
  type Target,
  writeTarget,
} from "../../core/network/allowed-hosts.ts";
import { openTunnel } from "./open-tunnel.ts";

export interface Rules {
  readonly hosts: readonly AllowedHost[];
  /** The environment that the agent would have without a sandbox: it may name a proxy of the operator's. */
  readonly env: Readonly<Record<string, string>>;
}

/** `via`: requests are for that proxy to fulfil. */
export type Way = { readonly socket: Socket; readonly via: OperatorProxy | null };

/** Opens a way to a host; answers why the rules do not let it. Throws when the host cannot be reached. */
export async function wayTo(
  target: Target,
  scheme: "http" | "https",
  { hosts, env }: Rules,
  signal: AbortSignal,
): Promise<Way | string> {
  const how = allowance(target, hosts);
  if (how === "none") return `${writeTarget(target)} is not in "sandbox.network"`;
  const via = isLoopback(target.host) ? null : operatorProxy(env, scheme, target);
  if (via !== null && scheme === "https")
    return { socket: await tunnelThrough(via, target, signal), via: null };
  if (via !== null) return { socket: await connectToProxy(via, signal), via };
  const allowed = allowedAddresses(target.host, how, await addressesOf(target.host));
  if (typeof allowed === "string") return allowed;
  const socket = connect({
    host: target.host,
    port: target.port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    // Those that were looked at, and no others: a second answer might be a different one.
    lookup: (_, __, answer) => answer(null, [...allowed]),
  });
  return { socket: await untilConnected(socket, "connect", signal), via: null };
}

/**
 * Of the addresses of a host those that it may stand for; a text says why it is none of them. Whoever gives out names
 * could otherwise point one to this machine, or into the operator's own network.
 */
export function allowedAddresses(
  host: string,
  how: "named" | "by-pattern",
  addresses: readonly LookupAddress[],
): readonly LookupAddress[] | string {
  if (addressOf(host) !== null || isLoopback(host)) return addresses;
  const allowed = addresses.filter(({ address }) => {
    const kind = addressKind(address);
    return kind === "public" || (kind === "private" && how === "named");
  });
  if (allowed.length > 0) return allowed;
  const where = addresses[0]?.address ?? "nowhere";
  return addressKind(where) === "near"
    ? `${host} leads to ${where}, which is this machine or near it, and "sandbox.network" does not name that address`
    : `${host} leads to ${where}, a private address, and "sandbox.network" has it by a pattern only`;
}

async function addressesOf(host: string): Promise<readonly LookupAddress[]> {
  const address = addressOf(host);
  if (address !== null) return [{ address, family: address.includes(":") ? 6 : 4 }];
  return lookup(host, { all: true });
}

/** Where an address leads: to this machine or whoever shares its cable, to a network of somebody's own, or anywhere. */
type AddressKind = "near" | "private" | "public";

const NEAR = blockList([
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
  ["255.255.255.255", 32],
  ["::", 127],
  ["fe80::", 10],
  ["ff00::", 8],
]);

const PRIVATE = blockList([
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["240.0.0.0", 4],
  ["fc00::", 7],
  ["fec0::", 10],
  // These hold an address of the other kind, which may be any of those above.
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2001::", 32],
  ["2002::", 16],
]);

export function addressKind(address: string): AddressKind {
  const plain = addressOf(address.replace(/%.*$/, ""));
  if (plain === null) return "near";
  const family = isIPv6(plain) ? "ipv6" : "ipv4";
  if (NEAR.check(plain, family)) return "near";
  return PRIVATE.check(plain, family) ? "private" : "public";
}

function blockList(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, isIPv6(net) ? "ipv6" : "ipv4");
  return list;
}

/** The proxy through which the operator's own programs reach a host. */
interface OperatorProxy {
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

async function connectToProxy({ url }: OperatorProxy, signal: AbortSignal): Promise<Socket> {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const place = { host, port: Number(url.port || (isTls ? 443 : 80)) };
  const socket = isTls
    ? connectTls({ ...place, ...(addressOf(host) === null && { servername: host }) })
    : connect({ ...place, allowHalfOpen: true });
  return untilConnected(socket, isTls ? "secureConnect" : "connect", signal);
}

/** A way to the host that the operator's proxy opens; throws when it does not. */
async function tunnelThrough(proxy: OperatorProxy, target: Target, signal: AbortSignal): Promise<Socket> {
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

/** The socket when it is connected. One for which nobody waits any more is gone, and no failure of it is ours. */
async function untilConnected(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<Socket> {
  socket.on("error", () => {});
  signal.addEventListener("abort", () => socket.destroy(), { once: true });
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
