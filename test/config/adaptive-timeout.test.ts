import { PLAIN } from "../../src/core/agents.ts";
import { describe, expect, test } from "vitest";
import { configJsonSchema } from "../../src/config/json-schema.ts";
import { resolveSettings } from "../../src/config/resolve-settings.ts";
import { DEFAULT_COMPLEXITY, type TimeoutSettings } from "../../src/core/loop/iteration-timeout.ts";
import { complaint, load, type Files } from "./config-folder.ts";

const DEFAULTS: TimeoutSettings = {
  enabled: true,
  complexityScaling: true,
  failureScaling: true,
  maxMs: 3_600_000,
  minMs: 60_000,
  perTimeout: 1.5,
  learn: true,
  levels: DEFAULT_COMPLEXITY,
};

const inToml = (text: string): Files => ({ ".ralph/ralph.toml": `[adaptive_timeout]\n${text}\n` });
const toml = (text: string): Promise<string> => complaint(inToml(text));

async function settingsOf(files: Files, env: NodeJS.ProcessEnv = {}): Promise<TimeoutSettings> {
  const { config } = await load(files, { RALPH_AGENT: "mine", ...env });
  const source = { kind: "checklist", label: "TODO.md", path: "TODO.md" } as const;
  const mine = { ...PLAIN, name: "mine", format: "text", command: ["x"] } as const;
  return resolveSettings(config, {}, source, [mine]).settings.adaptiveTimeout;
}

describe("the settings", () => {
  test("have defaults", async () => {
    expect(await settingsOf({})).toEqual(DEFAULTS);
    expect(await settingsOf(inToml(""))).toEqual(DEFAULTS);
  });

  test("can be as the request writes them", async () => {
    const file = `enabled = true
complexity_scaling = true
failure_scaling = true
max_timeout = 3600
min_timeout = 60
timeout_multiplier_per_failure = 1.5

[adaptive_timeout.complexity.simple]
multiplier = 1.0
keywords = ["fix", "update", "refactor", "add"]

[adaptive_timeout.complexity.ui_heavy]
multiplier = 3.0
keywords = ["UI", "View", "Chart", "Dashboard", "SwiftUI"]`;
    expect(await settingsOf(inToml(file))).toEqual(DEFAULTS);
  });

  test("can all be others", async () => {
    const file = `enabled = false
complexity_scaling = false
failure_scaling = false
max_timeout = "2h"
min_timeout = 90
timeout_multiplier_per_failure = 2
learn = false`;
    expect(await settingsOf(inToml(file))).toEqual({
      enabled: false,
      complexityScaling: false,
      failureScaling: false,
      maxMs: 7_200_000,
      minMs: 90_000,
      perTimeout: 2,
      learn: false,
      levels: DEFAULT_COMPLEXITY,
    });
  });

  test("keep the default of what a level does not say", async () => {
    const file = `[adaptive_timeout.complexity.complex]
multiplier = 2.25
[adaptive_timeout.complexity.ui_heavy]
keywords = ["screen", "state machine"]`;
    expect((await settingsOf(inToml(file))).levels).toEqual({
      ...DEFAULT_COMPLEXITY,
      complex: { ...DEFAULT_COMPLEXITY.complex, multiplier: 2.25 },
      ui_heavy: { ...DEFAULT_COMPLEXITY.ui_heavy, keywords: ["screen", "state machine"] },
    });
    expect((await settingsOf(inToml("complexity.simple.keywords = []"))).levels.simple.keywords).toEqual([]);
  });

  test("are read from JSON and from variables too", async () => {
    const json = {
      ".ralph/ralph.json": '{"adaptive_timeout": {"complexity": {"medium": {"multiplier": 1.75}}}}',
    };
    const env = {
      RALPH_ADAPTIVE_TIMEOUT_COMPLEXITY_SIMPLE_MULTIPLIER: "0.5",
      RALPH_ADAPTIVE_TIMEOUT_MAX_TIMEOUT: "45m",
      RALPH_ADAPTIVE_TIMEOUT_LEARN: "false",
    };
    const settings = await settingsOf(json, env);
    expect(settings).toMatchObject({ maxMs: 2_700_000, learn: false });
    expect(settings.levels.medium.multiplier).toBe(1.75);
    expect(settings.levels.simple).toEqual({ ...DEFAULT_COMPLEXITY.simple, multiplier: 0.5 });
  });

  test("are listed with their origins, as they would be written", async () => {
    const files = inToml('max_timeout = "2h"\n[adaptive_timeout.complexity.complex]\nmultiplier = 2.25');
    const values = await (await load(files)).values();
    const at = (key: string): unknown => values.find((value) => value.key === `adaptive_timeout.${key}`);
    expect(at("max_timeout")).toMatchObject({ value: "2h", origin: ".ralph/ralph.toml:2" });
    expect(at("min_timeout")).toMatchObject({ value: "1m", origin: "default" });
    expect(at("complexity.complex.multiplier")).toMatchObject({ value: 2.25, origin: ".ralph/ralph.toml:4" });
    expect(at("complexity.complex.keywords")).toMatchObject({
      value: ["CLI", "command", "parser"],
      origin: "default",
    });
  });
});

describe("a mistake", () => {
  test.each([
    ["enabled = 1", '"adaptive_timeout.enabled": expected true or false, got 1'],
    [
      "max_timeout = 0",
      '"adaptive_timeout.max_timeout": expected a duration longer than 0, such as "90s", "45m", "2h" or "1h30m", got 0',
    ],
    [
      "timeout_multiplier_per_failure = 0.9",
      '"adaptive_timeout.timeout_multiplier_per_failure": expected a number, 1 or more, got 0.9',
    ],
    [
      'timeout_multiplier_per_failure = "2"',
      '"adaptive_timeout.timeout_multiplier_per_failure": expected a number, 1 or more, got "2"; write it without quotes: 2',
    ],
    [
      "complexity.simple.multiplier = 0",
      '"adaptive_timeout.complexity.simple.multiplier": expected a number, 0.1 or more, got 0',
    ],
    [
      'complexity.simple.keywords = "fix typo"',
      '"adaptive_timeout.complexity.simple.keywords": expected a list of texts, such as ["one", "two"], got "fix typo"; write it as a list: ["fix", "typo"]',
    ],
    [
      'complexity.simple.keywords = ["fix", ""]',
      '"adaptive_timeout.complexity.simple.keywords.1": expected a text in quotes, which is not empty',
    ],
    [
      "complexity = 3",
      '"adaptive_timeout.complexity": expected a section, [adaptive_timeout.complexity], got 3',
    ],
    [
      "[adaptive_timeout.complexity.ui_hevy]\nmultiplier = 2",
      'unknown key "ui_hevy" in [adaptive_timeout.complexity]. Did you mean "ui_heavy"?',
    ],
    [
      "[adaptive_timeout.complexity.backend]\nmultiplier = 2",
      'unknown key "backend" in [adaptive_timeout.complexity]. Known here: "simple", "medium", "complex", "ui_heavy"',
    ],
    [
      "complexity.simple.multiplyer = 2",
      'unknown key "multiplyer" in [adaptive_timeout.complexity.simple]. Did you mean "multiplier"?',
    ],
    [
      "[adaptive_timeout.simple]\nmultiplier = 2",
      'unknown key "simple" in [adaptive_timeout]; it belongs in [adaptive_timeout.complexity]',
    ],
    ["max_timout = 2", 'unknown key "max_timout" in [adaptive_timeout]. Did you mean "max_timeout"?'],
  ])("%s", async (line, message) => {
    expect(await toml(line)).toBe(`.ralph/ralph.toml:2: ${message}`);
  });

  test("a least timeout above the most", async () => {
    expect(await toml('max_timeout = "30m"\nmin_timeout = "1h"')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:3: "adaptive_timeout.min_timeout": 1h is longer than "max_timeout", which is 30m; lower the one or raise the other"`,
    );
    expect(await toml('max_timeout = "30s"')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: "adaptive_timeout.min_timeout": 1m is longer than "max_timeout", which is 30s; lower the one or raise the other"`,
    );
    expect(await toml('max_timeout = "30m"\nmin_timeout = "30m"')).toBe("nothing is wrong");
  });

  test("a variable that is too small", async () => {
    const env = { RALPH_ADAPTIVE_TIMEOUT_TIMEOUT_MULTIPLIER_PER_FAILURE: "0.5" };
    expect(await complaint({}, env)).toMatchInlineSnapshot(`
      "RALPH_ADAPTIVE_TIMEOUT_TIMEOUT_MULTIPLIER_PER_FAILURE is "0.5"; expected a number, 1 or more
      it sets "adaptive_timeout.timeout_multiplier_per_failure"; without the variable the file or the default counts: unset RALPH_ADAPTIVE_TIMEOUT_TIMEOUT_MULTIPLIER_PER_FAILURE"
    `);
  });
});

test("editors are told the bounds", () => {
  expect(configJsonSchema()).toMatchObject({
    properties: {
      adaptive_timeout: {
        properties: {
          timeout_multiplier_per_failure: { type: "number", minimum: 1, default: 1.5 },
          complexity: {
            additionalProperties: false,
            properties: { ui_heavy: { additionalProperties: false } },
          },
        },
      },
    },
  });
});
