import { describe, expect, test } from "vitest";
import { configJsonSchema, scalarKeys, schemaKeys } from "../../src/config/json-schema.ts";
import { readVariables, variableOf } from "../../src/config/load-config.ts";
import { resolveSettings } from "../../src/config/resolve-settings.ts";
import { load, type Files } from "./config-folder.ts";

const TREE = `
ralph:
  enabled: yes
  default_max_iterations: 10
  verify_promises: true
  coder:
    enabled: true
    max_iterations: 15
    completion_promise: "IMPLEMENTATION_COMPLETE"
  reviewer:
    max_iterations: 5
    completion_promise: "REVIEW_COMPLETE"
  qa:
    enabled: false
`;

describe("files", () => {
  test("without any, everything is the default", async () => {
    const { config, files } = await load({});
    expect(files).toEqual([]);
    expect(config).toMatchObject({ agent: "claude", mode: "standard", maxIterationsPerTask: 30, gates: [] });
    expect(new Set(Object.values(await origins({})))).toEqual(new Set(["default"]));
  });

  test("TOML, JSON and a byte order mark", async () => {
    const toml = await load({ ".ralph/ralph.toml": '\uFEFFagent = "demo"\n[run]\nmax_stuck = 7\n' });
    const json = await load({ ".ralph/ralph.json": '{"agent": "demo", "run": {"max_stuck": 7}}' });
    expect(json.config).toEqual(toml.config);
    expect(toml.config.run.max_stuck).toBe(7);
  });

  test("several files are merged, and every value has its own origin", async () => {
    const files = {
      ".ralph/ralph.toml": '[run]\nmax_stuck = 7\n\n[[gates]]\nname = "tests"\ncommand = "npm test"\n',
      ".ralph/ralph.json": '{"agent": "demo",\n "run": {"retries": 1, "max_stuck": 7}}',
      ".specflow/config.yaml": TREE,
    };
    const loaded = await load(files);
    expect(loaded.files).toEqual([".ralph/ralph.toml", ".ralph/ralph.json", ".specflow/config.yaml"]);
    expect(loaded.config).toMatchObject({
      agent: "demo",
      run: { max_stuck: 7, retries: 1 },
      gates: [{ name: "tests" }],
      stages: { coder: { max_iterations: 15 }, reviewer: { max_iterations: 5 } },
    });
    expect(await origins(files)).toMatchObject({
      "run.max_stuck": ".ralph/ralph.toml:2",
      "run.retries": ".ralph/ralph.json:2",
      "gates.0.command": ".ralph/ralph.toml:6",
      "stages.coder.max_iterations": ".specflow/config.yaml:8",
      mode: "default",
    });
  });

  test("an agent may be described in two files", async () => {
    const files = {
      ".ralph/ralph.toml": 'agent = "own"\n[agents.own]\nmodel = "x"\n',
      ".ralph/ralph.json": '{"agents": {"own": {"command": ["own"]}}}',
    };
    expect((await load(files)).config.agents["own"]).toMatchObject({ model: "x", command: ["own"] });
  });

  test("durations are read in all their forms", async () => {
    const timeout = async (text: string): Promise<unknown> => {
      const file = `[[gates]]\nname = "a"\ncommand = "b"\ntimeout = ${text}\n`;
      return (await load({ ".ralph/ralph.toml": file })).config.gates[0]?.timeout;
    };
    expect(await timeout('"1h30m"')).toBe(5_400_000);
    expect(await timeout('"45min"')).toBe(2_700_000);
    expect(await timeout("90")).toBe(90_000);
    expect(
      (await load({ ".ralph/ralph.toml": '[[gates]]\nname="a"\ncommand="b"' })).config.gates[0],
    ).toMatchObject({
      timeout: 600_000,
    });
  });

  test.each([
    ["nothing is written", "", 600_000],
    ["it is shorter", 'idle_timeout = "90s"', 90_000],
    ["it is off", 'idle_timeout = "0"', 0],
    ["it is off as a number", "idle_timeout = 0", 0],
  ])("how long an agent may show no sign of life: %s", async (_, line, idleMs) => {
    const file = `agent = "own"\n[agents.own]\ncommand = ["own"]\n[run]\n${line}\n`;
    const { config } = await load({ ".ralph/ralph.toml": file });
    const source = { kind: "goal", label: "goal", path: null } as const;
    expect(resolveSettings(config, {}, source, []).settings.limits.idleMs).toBe(idleMs);
  });

  test("what a gate expects becomes settings, and has defaults", async () => {
    const file = `
[[gates]]
name = "plain"
command = "a"
[[gates]]
name = "full"
command = "b"
kind = "test"
retries = 2
expect = { exit_code = 3, output_contains = "42 passed", output_not_contains = "skipped" }
on_baseline = "tolerate"
`;
    const { config } = await load({
      ".ralph/ralph.toml": `agent = "mine"\n[agents.mine]\ncommand = ["x"]${file}`,
    });
    const source = { kind: "checklist", label: "TODO.md", path: "TODO.md" } as const;
    const { gates } = resolveSettings(config, { check: ["c"] }, source, []).settings;
    const plain = {
      kind: null,
      retries: 0,
      expect: { exitCode: 0, outputContains: null, outputNotContains: null },
      onBaseline: "require",
    };
    expect(gates).toMatchObject([
      plain,
      {
        kind: "test",
        retries: 2,
        expect: { exitCode: 3, outputContains: "42 passed", outputNotContains: "skipped" },
        onBaseline: "tolerate",
      },
      plain,
    ]);
  });

  test("a key under its other name", async () => {
    const files = { ".ralph/ralph.toml": "[promise]\nverify = true\nrequire_xml_format = false\n" };
    expect((await load(files)).config.promise).toMatchObject({ require_xml: false, verify: true });
    expect(await origins(files)).toMatchObject({ "promise.require_xml": ".ralph/ralph.toml:3" });
  });

  test.each([
    [".ralph/ralph.toml", "require_xml_format = false\n[promise]\nverify = true\n", 1],
    [".ralph/ralph.json", '{\n"require_xml_format": false}', 2],
    [".specflow/config.yaml", "ralph:\n  require_xml_format: false\n  reviewer: {}\n", 2],
  ])("a key of another loop's at the top of %s", async (path, text, line) => {
    const files = { [path]: text };
    expect((await load(files)).config.promise.require_xml).toBe(false);
    expect(await origins(files)).toMatchObject({ "promise.require_xml": `${path}:${line}` });
  });
});

describe("config.yaml", () => {
  test.each([".ralph/config.yaml", ".specflow/config.yaml"])("%s is a pipeline", async (path) => {
    const { config, waiting, values } = await load({ [path]: TREE });
    expect(Object.entries(config.stages)).toEqual([
      ["coder", { enabled: true, max_iterations: 15, completion_promise: "IMPLEMENTATION_COMPLETE" }],
      ["reviewer", { enabled: true, max_iterations: 5, completion_promise: "REVIEW_COMPLETE" }],
      ["qa", { enabled: false, max_iterations: 10 }],
    ]);
    expect(await values()).toContainEqual({
      key: "stages.coder.max_iterations",
      value: 15,
      origin: `${path}:8`,
    });
    expect(await values()).toContainEqual({
      key: "stages.qa.max_iterations",
      value: 10,
      origin: `${path}:4`,
    });
    expect(await waiting()).toEqual([]);
  });

  test("the coder alone is the one stage that there is without a pipeline", async () => {
    const tree = TREE.slice(0, TREE.indexOf("  reviewer"));
    const { config, waiting } = await load({ ".ralph/config.yaml": tree });
    expect(config).toMatchObject({
      stages: {},
      maxIterationsPerTask: 15,
      promise: { completion: "IMPLEMENTATION_COMPLETE" },
    });
    expect((await waiting()).map(({ key }) => key)).toEqual(["ralph.default_max_iterations"]);
  });

  test("switched off, every stage is a single pass", async () => {
    const { config } = await load({ ".ralph/config.yaml": "ralph:\n  enabled: false\n  tester: {}\n" });
    expect(config.stages).toMatchObject({ coder: { enabled: false }, tester: { enabled: false } });
  });

  test("the default limit counts when the coder has none", async () => {
    const files = { ".ralph/config.yaml": "ralph:\n  default_max_iterations: 10\n" };
    const { config, waiting } = await load(files);
    expect(config.maxIterationsPerTask).toBe(10);
    expect(await waiting()).toEqual([]);
    expect(await origins(files)).toMatchObject({ "ralph.default_max_iterations": ".ralph/config.yaml:2" });
  });

  test("another program's file without our tree is none of our business, whatever is in it", async () => {
    const files = { ".ralph/ralph.toml": 'agent = "demo"\n', ".specflow/config.yaml": "]]] not: even: yaml" };
    expect((await load(files)).config.agent).toBe("demo");
  });

  test("an empty file says nothing", async () => {
    expect((await load({ ".ralph/config.yaml": "" })).config.maxIterationsPerTask).toBe(30);
  });
});

describe("variables", () => {
  test("are stronger than the file, and each is read in its type", async () => {
    const files = { ".ralph/ralph.toml": 'agent = "demo"\n[run]\nmax_stuck = 7\nretries = 1\n' };
    const env = { RALPH_RUN_MAX_STUCK: "0", RALPH_RUN_KEEP_GOING: "1", RALPH_MODE: "speed", RALPH_AGENT: "" };
    const { config } = await load(files, env);
    expect(config).toMatchObject({ agent: "demo", mode: "speed" });
    expect(config.run).toMatchObject({ max_stuck: 0, keep_going: true, retries: 1 });
    expect(await origins(files, env)).toMatchObject({
      agent: ".ralph/ralph.toml:1",
      mode: "env RALPH_MODE",
      "run.max_stuck": "env RALPH_RUN_MAX_STUCK",
      "run.retries": ".ralph/ralph.toml:4",
      "run.max_attempts": "default",
    });
  });

  test("do not change a section that the file has", async () => {
    const files = { ".ralph/ralph.toml": "[promise]\nrequire_xml = false\n" };
    const { config } = await load(files, { RALPH_PROMISE_COMPLETION: "DONE" });
    expect(config.promise).toMatchObject({ completion: "DONE", require_xml: false });
  });

  test("that say something else are no configuration, least of all an agent's own", async () => {
    const env = {
      RALPH_MAX_ITERATIONS: "7",
      RALPH_ITERATION: "3",
      RALPH_STAGE: "build",
      RALPH_TASK_ID: "x",
      RALPH_RUN_ID: "r",
      RALPH_MARKER: "m",
      RALPH_DIR: "d",
      RALPH_STATE: "s",
      RALPH_DEMO_SCRIPT: "f",
      RALPH_TEST_PROJECT: "p",
    };
    const { config, unknownVariables } = await load({}, env);
    expect(config).toEqual((await load({})).config);
    expect(unknownVariables).toEqual([]);
  });

  test("that nobody knows are listed", async () => {
    expect((await load({}, { RALPH_WIGGUM: "1", RALPH_AGENTS_HOME: "/x" })).unknownVariables).toEqual([
      "RALPH_AGENTS_HOME",
      "RALPH_WIGGUM",
    ]);
  });

  test.each(scalarKeys().map(({ key }) => [variableOf(key), key]))("%s can set %s", (name, key) => {
    const node = scalarKeys().find((one) => one.key === key)?.node ?? {};
    const words = node.enum ?? node.anyOf?.[0]?.enum;
    const values: Readonly<Record<string, string>> = { string: "x", boolean: "true" };
    const usual = words?.[0] ?? (node.expected === undefined ? (values[String(node.type)] ?? "5") : "5m");
    const addresses: Readonly<Record<string, string>> = {
      "queue.url": "postgres://ralph@db/ralph",
      "notify.webhook": "https://example.com/ralph",
    };
    const text = addresses[key] ?? usual;
    expect(readVariables({ [name]: text }).set.get(key)).toMatchObject({ name });
  });
});

describe("the schema", () => {
  test("explains every key", () => {
    expect(schemaKeys().filter(({ node }) => (node.description ?? "") === "")).toEqual([]);
  });

  test("becomes a JSON Schema with a description everywhere", () => {
    const schema = configJsonSchema() as { properties: Record<string, Record<string, unknown>> };
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    expect(schema.properties["mode"]).toMatchObject({
      enum: ["speed", "standard", "thorough"],
      default: "standard",
      description: expect.stringContaining("iteration"),
    });
    expect(JSON.stringify(schema)).not.toContain("9007199254740991");
  });
});

async function origins(files: Files, env: NodeJS.ProcessEnv = {}): Promise<Readonly<Record<string, string>>> {
  const values = await (await load(files, env)).values();
  return Object.fromEntries(values.map(({ key, origin }) => [key, origin]));
}
