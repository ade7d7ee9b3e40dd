import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { addressOf, isLoopback } from "../../core/network/address.ts";
import { allowance, writeTarget, type AllowedHost, type Target } from "../../core/network/allowed-hosts.ts";
import { addressKind } from "./address-kind.ts";
import { connectToProxy, operatorProxy, tunnelThrough, type OperatorProxy } from "./operator-proxy.ts";
import { untilConnected } from "./until-connected.ts";

export interface Rules {
  readonly hosts: readonly AllowedHost[];
  /** The environment that the agent would have without a sandbox: it may name a proxy of the operator's. */
  readonly env: Readonly<Record<string, string>>;
}

export type Way =
  /** `via`: requests are for that proxy to fulfil. */
  | { readonly is: "open"; readonly socket: Socket; readonly via: OperatorProxy | null }
  | { readonly is: "refused"; readonly why: string };

/** Opens a way to a host, if the rules let it; throws when the host cannot be reached. */
export async function wayTo(
  target: Target,
  scheme: "http" | "https",
  { hosts, env }: Rules,
  signal: AbortSignal,
): Promise<Way> {
  const how = allowance(target, hosts);
  if (how === "none") return refused(`${writeTarget(target)} is not in "sandbox.network"`);
  const via = isLoopback(target.host) ? null : operatorProxy(env, scheme, target);
  if (via !== null && scheme === "https")
    return { is: "open", socket: await tunnelThrough(via, target, signal), via: null };
  if (via !== null) return { is: "open", socket: await connectToProxy(via, signal), via };
  const allowed = allowedAddresses(target.host, how, await addressesOf(target.host, signal));
  if (typeof allowed === "string") return refused(allowed);
  const socket = connect({
    host: target.host,
    port: target.port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    // Those that were looked at, and no others: a second answer might be a different one.
    lookup: (_, __, answer) => answer(null, [...allowed]),
  });
  return { is: "open", socket: await untilConnected(socket, "connect", signal), via: null };
}

function refused(why: string): Way {
  return { is: "refused", why };
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

async function addressesOf(host: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
  const address = addressOf(host);
  if (address !== null) return [{ address, family: address.includes(":") ? 6 : 4 }];
  return inSlot(async () => {
    signal.throwIfAborted();
    return lookup(host, { all: true });
  });
}

/** Names are looked up by the same few threads that read our files. */
const SLOTS = 2;
let taken = 0;
const waiting: (() => void)[] = [];

async function inSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  if (taken < SLOTS) taken += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  }
}
