import { describe, expect, test } from "vitest";
import { readVariables } from "../../src/config/load-config.ts";
import { resolveSandbox } from "../../src/config/resolve-settings.ts";
import { configSchema } from "../../src/config/schema.ts";
import { complaint } from "./config-folder.ts";

function sandboxOf(written: object, flag?: string | boolean): ReturnType<typeof resolveSandbox> {
  return resolveSandbox(configSchema.parse({ sandbox: written }), flag);
}

describe("the kind", () => {
  test.each([
    [{}, undefined, undefined],
    [{}, true, "bubblewrap"],
    [{}, "bubblewrap", "bubblewrap"],
    [{ kind: "bubblewrap" }, undefined, "bubblewrap"],
    [{ kind: "bubblewrap" }, false, undefined],
    [{ kind: "docker", image: "agents" }, true, "docker"],
    [{ kind: "docker", image: "agents" }, "bubblewrap", "bubblewrap"],
  ])("of %j with the flag %s is %s", (written, flag, kind) => {
    expect(sandboxOf(written, flag)?.kind).toBe(kind);
  });

  test("that nobody knows is refused", () => {
    expect(() => sandboxOf({}, "mend the tests")).toThrow(
      '--sandbox is "mend the tests"; expected bubblewrap',
    );
  });
});

test("docker needs an image", () => {
  expect(() => sandboxOf({ kind: "docker" })).toThrow('needs an image, and "sandbox.image" names none');
  expect(sandboxOf({ kind: "docker", image: "agents", network: "off" })).toEqual({
    kind: "docker",
    image: "agents",
    network: "off",
    read: [],
    write: [],
    env: [],
  });
});

test.each([["relative/path"], ["~someone/else"], [""]])("%j is no place that could be shown", (path) => {
  expect(configSchema.safeParse({ sandbox: { read: [path] } }).success).toBe(false);
});

test.each([["~"], ["~/.cargo"], ["/srv/data"]])("%j is one", (path) => {
  expect(configSchema.safeParse({ sandbox: { write: [path] } }).success).toBe(true);
});

describe("the network", () => {
  test("is a list of hosts in bubblewrap, and in nothing else", () => {
    const network = ["api.example.com", "*.example.org", "127.0.0.1:8080"];
    expect(sandboxOf({ kind: "bubblewrap", network })).toMatchObject({ network });
    expect(() => sandboxOf({ kind: "docker", image: "agents", network })).toThrow(
      'is a list of hosts, which the sandbox "docker" cannot keep to',
    );
  });

  test.each([
    [
      '"of"',
      'network": expected "on", "off" or a list of texts, such as ["one", "two"], got "of". Did you mean "on"?',
    ],
    ["[3]", 'network": expected "on", "off" or a list of texts, such as ["one", "two"], got a list'],
    ['["a.org", "https://b.org"]', 'network.1": expected a host alone, such as "api.example.com"'],
    ['["localhost"]', 'network.0": of this machine itself name each port, from 1024 on'],
  ])("of %s is refused with what to write", async (network, complained) => {
    const said = await complaint({ ".ralph/ralph.toml": `[sandbox]\nnetwork = ${network}\n` });
    expect(said).toContain(`.ralph/ralph.toml:2: "sandbox.${complained}`);
  });

  test("is no list in a variable", async () => {
    expect(readVariables({ RALPH_SANDBOX_NETWORK: "off" }).set.get("sandbox.network")?.value).toBe("off");
    expect(await complaint({}, { RALPH_SANDBOX_NETWORK: "a.org" })).toContain('expected "on" or "off"');
  });
});
