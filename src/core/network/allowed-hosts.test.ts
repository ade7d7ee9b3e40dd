import { describe, expect, test } from "vitest";
import { allowance, readAllowedHost, readTarget, writeTarget, type AllowedHost } from "./allowed-hosts.ts";

function list(...texts: readonly string[]): readonly AllowedHost[] {
  return texts.map((text) => {
    const entry = readAllowedHost(text);
    if (typeof entry === "string") throw new Error(`${text}: ${entry}`);
    return entry;
  });
}

function how(asked: string, ...texts: readonly string[]): string {
  const target = readTarget(asked, null);
  return target === null ? "nonsense" : allowance(target, list(...texts));
}

describe("who is in the list", () => {
  test.each([
    ["api.example.com:443", "api.example.com", "named"],
    ["api.example.com:80", "api.example.com", "named"],
    ["api.example.com:22", "api.example.com", "none"],
    ["api.example.com:22", "api.example.com:22", "named"],
    ["api.example.com:443", "api.example.com:22", "none"],
    ["API.Example.COM.:443", "api.example.com", "named"],
    ["api.example.com:443", "API.example.com", "named"],
    ["example.com:443", "api.example.com", "none"],
    ["evil-api.example.com:443", "api.example.com", "none"],
    ["api.example.com.evil.net:443", "api.example.com", "none"],
    ["registry.npmjs.org:443", "*.npmjs.org", "by-pattern"],
    ["a.b.npmjs.org:443", "*.npmjs.org", "by-pattern"],
    ["npmjs.org:443", "*.npmjs.org", "none"],
    ["evilnpmjs.org:443", "*.npmjs.org", "none"],
    ["a.npmjs.org:8443", "*.npmjs.org:8443", "by-pattern"],
    ["10.0.0.5:5432", "10.0.0.5:5432", "named"],
    ["[::ffff:10.0.0.5]:5432", "10.0.0.5:5432", "named"],
    ["[FD00:0::1]:80", "[fd00::1]", "named"],
    ["[fd00::2]:80", "[fd00::1]", "none"],
    ["127.0.0.1:8080", "127.0.0.1:8080", "named"],
    ["127.0.0.2:8080", "127.0.0.1:8080", "none"],
    ["127.1:8080", "127.0.0.1:8080", "nonsense"],
    ["0x7f.1:443", "*.1a", "nonsense"],
    ["2130706433:80", "*.org", "nonsense"],
  ])("%s of %s: %s", (asked, entry, expected) => {
    expect(how(asked, entry)).toBe(expected);
  });

  test("a name of its own counts for more than a pattern", () => {
    expect(how("a.example.com:443", "*.example.com", "a.example.com")).toBe("named");
    expect(how("a.example.com:443")).toBe("none");
  });
});

test.each([
  ["https://api.example.com", "expected a host alone"],
  ["api.example.com/v1", "expected a host alone"],
  ["10.0.0.0/8", "expected a host alone"],
  ["*", 'write network = "on"'],
  ["*:443", 'write network = "on"'],
  ["", "expected a host, perhaps with a port"],
  ["::1", "expected a host, perhaps with a port"],
  ["[api.example.com]:80", "expected a host, perhaps with a port"],
  ["api.example.com:http", "expected a host, perhaps with a port"],
  ["api.*.com", '"api.*.com" is no name of a host, and no address'],
  ["api example.com", '"api example.com" is no name of a host'],
  ["-a.example.com", "is no name of a host"],
  ["müller.de", "is no name of a host"],
  ["127.1", "is no name of a host"],
  ["*.0.0.1", "is no name of a host"],
  ["*.10.0.0.1", "is no name of a host"],
  ["api.example.com:0", "from 1 to 65535"],
  ["api.example.com:70000", "from 1 to 65535"],
  ["0.0.0.0:80", "for this machine write 127.0.0.1"],
  ["[::]:80", "for this machine write 127.0.0.1"],
  ["localhost", "name each port, from 1024 on"],
  ["127.0.0.1:80", "name each port, from 1024 on"],
  ["[::ffff:127.0.0.1]", "name each port, from 1024 on"],
  ["*.localhost:8080", "name each port"],
])("%j is no entry: %s", (text, complaint) => {
  expect(readAllowedHost(text)).toContain(complaint);
});

test.each([
  ["[::1]:8080", "[0:0:0:0:0:0:0:1]:8080"],
  ["[1::2:3:4]:80", "[1:0:0:0:0:2:3:4]:80"],
  ["[::ffff:1.2.3.4]:80", "1.2.3.4:80"],
  ["[::1.2.3.4]:80", "[0:0:0:0:0:0:102:304]:80"],
  ["[1:2:3:4:5:6:7:8]:1", "[1:2:3:4:5:6:7:8]:1"],
])("the target %s is %s", (text, written) => {
  const target = readTarget(text, null);
  expect(target && writeTarget(target)).toBe(written);
});

test.each([
  ["[1:2:3:4:5:6:7]:1"],
  ["[1::2::3]:1"],
  ["[1:2:3:4:5:6:7:8:9]:1"],
  ["[1:2:3:4:5:6:7::8]:1x"],
  ["[::1.2.3]:1"],
  ["[::g]:1"],
  ["256.0.0.1:80"],
  ["01.2.3.4:80"],
  ["a.example.com"],
  ["a@b:80"],
  ["a\r\nb:80"],
  [":80"],
])("%j is no target", (text) => {
  expect(readTarget(text, null)).toBeNull();
});
