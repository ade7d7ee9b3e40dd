import { expect, test } from "vitest";
import { operatorProxy } from "./operator-proxy.ts";

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
