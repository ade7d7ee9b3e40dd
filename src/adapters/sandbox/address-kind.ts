import { BlockList, isIPv6 } from "node:net";
import { addressOf } from "../../core/network/address.ts";

/** Where an address leads: to this machine or whoever shares its cable, to a network of somebody's own, or anywhere. */
export type AddressKind = "near" | "private" | "public";

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
