import { describe, expect, test } from "vitest";
import { resolveSandbox } from "../../src/config/resolve-sandbox.ts";
import { configSchema } from "../../src/config/schema.ts";

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
