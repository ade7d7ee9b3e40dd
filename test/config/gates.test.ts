import { expect, test } from "vitest";
import { resolveSettings } from "../../src/config/resolve-settings.ts";
import type { GateSettings } from "../../src/core/settings.ts";
import { BUILT_IN, load } from "./config-folder.ts";

async function gatesOf(toml: string, check: readonly string[]): Promise<readonly GateSettings[]> {
  const { config } = await load({ ".ralph/ralph.toml": `agent = "demo"\n${toml}` });
  const source = { kind: "goal", label: "", path: null } as const;
  return resolveSettings(config, { check }, source, BUILT_IN).commands.gates;
}

const TESTS = '[[gates]]\nname = "tests"\ncommand = "npm test"\n';
const namesOf = (gates: readonly GateSettings[]): readonly string[] => gates.map(({ name }) => name);

test("a check is a gate of its own, after those of the configuration", async () => {
  expect(namesOf(await gatesOf(TESTS, ["make lint"]))).toEqual(["tests", "make lint"]);
});

test("a check that is a gate already does not run twice", async () => {
  expect(namesOf(await gatesOf(TESTS, ["npm test", " npm test "]))).toEqual(["tests"]);
  expect(namesOf(await gatesOf("", ["npm test", "npm test"]))).toEqual(["npm test"]);
});

test("a gate that is asked for as a check is as strict as one", async () => {
  const lenient = 'required = false\non_missing = "skip"\non_baseline = "tolerate"\ntimeout = "5m"\n';
  const [gate, ...others] = await gatesOf(`${TESTS}${lenient}`, ["npm test"]);
  expect(others).toEqual([]);
  expect(gate).toMatchObject({ required: true, onMissing: "fail", onBaseline: "require" });
  expect(gate).toMatchObject({ name: "tests", timeoutMs: 300_000 });
});

test.each([
  ["elsewhere", 'cwd = "packages/shop"'],
  ["with another environment", 'env = { CI = "1" }'],
  ["that must fail", "expect = { exit_code = 1 }"],
])("the same command %s is another gate", async (_, how) => {
  expect(namesOf(await gatesOf(`${TESTS}${how}\n`, ["npm test"]))).toEqual(["tests", "npm test"]);
});
