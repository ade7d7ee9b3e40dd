import { expect, test } from "vitest";
import { allowedAddresses } from "./way-to-host.ts";

const answer = (...addresses: readonly string[]) =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

test("a name leads to the addresses that it may stand for, and to none besides", () => {
  const all = answer("127.0.0.1", "10.0.0.1", "192.0.2.1", "::ffff:169.254.169.254");
  expect(allowedAddresses("api.example.com", "named", all)).toEqual(answer("10.0.0.1", "192.0.2.1"));
  expect(allowedAddresses("api.example.com", "by-pattern", all)).toEqual(answer("192.0.2.1"));
});

test("a name that leads to this machine is refused, however the list has it", () => {
  for (const how of ["named", "by-pattern"] as const)
    expect(allowedAddresses("api.example.com", how, answer("127.0.0.1"))).toContain("leads to 127.0.0.1");
});

test("a private address is for whole names only", () => {
  const inside = answer("192.168.1.9");
  expect(allowedAddresses("git.example.com", "named", inside)).toEqual(inside);
  expect(allowedAddresses("git.example.com", "by-pattern", inside)).toContain("by a pattern only");
});

test("an address that the list names is itself", () => {
  expect(allowedAddresses("127.0.0.1", "named", answer("127.0.0.1"))).toEqual(answer("127.0.0.1"));
  expect(allowedAddresses("localhost", "named", answer("::1"))).toEqual(answer("::1"));
});
