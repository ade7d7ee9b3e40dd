import { expect, test } from "vitest";
import { addressKind, allowedAddresses, operatorProxy } from "./way-to-host.ts";

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

test.each([
  ["127.0.0.1", "near"],
  ["127.255.0.9", "near"],
  ["0.0.0.0", "near"],
  ["169.254.169.254", "near"],
  ["::1", "near"],
  ["::", "near"],
  ["fe80::1%eth0", "near"],
  ["::ffff:127.0.0.1", "near"],
  ["no address", "near"],
  ["10.1.2.3", "private"],
  ["172.31.0.1", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["::ffff:10.0.0.1", "private"],
  ["::7f00:1", "private"],
  ["64:ff9b::7f00:1", "private"],
  ["2002:7f00:1::", "private"],
  ["fd00::1", "private"],
  ["172.32.0.1", "public"],
  ["8.8.8.8", "public"],
  ["2606:4700::1", "public"],
])("%s is %s", (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

const PROXY = "http://proxy.example.com:3128";

test.each([
  [{}, "https", null],
  [{ HTTPS_PROXY: PROXY }, "https", "proxy.example.com:3128"],
  [{ HTTPS_PROXY: PROXY }, "http", null],
  [{ http_proxy: PROXY }, "http", "proxy.example.com:3128"],
  [{ ALL_PROXY: "proxy.example.com:8080" }, "https", "proxy.example.com:8080"],
  [{ https_proxy: PROXY, HTTPS_PROXY: "http://other:1" }, "https", "proxy.example.com:3128"],
  [{ HTTPS_PROXY: "  " }, "https", null],
  [{ ALL_PROXY: "socks5://proxy.example.com:1080" }, "https", null],
  [{ HTTPS_PROXY: "http://:::" }, "https", null],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: "example.com" }, "https", null],
  [{ HTTPS_PROXY: PROXY, no_proxy: "x.org, .example.com" }, "https", null],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: "*" }, "https", null],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: "ample.com" }, "https", "proxy.example.com:3128"],
] as const)("%j, %s: %s", (env, scheme, host) => {
  const found = operatorProxy(env, scheme, { host: "api.example.com", port: 443 });
  expect(found?.url.host ?? null).toBe(host);
});

test("its password is for itself", () => {
  const env = { HTTPS_PROXY: "http://me:a%3Ab@proxy.example.com" };
  const { authorization } = operatorProxy(env, "https", { host: "a.org", port: 443 }) ?? {};
  expect(authorization).toBe(`Basic ${Buffer.from("me:a:b").toString("base64")}`);
});
