import { expect, test } from "vitest";
import { resolveSettings } from "../../src/config/resolve-settings.ts";
import type { GateSettings } from "../../src/core/settings.ts";
import { BUILT_IN, complaint, load, type Files } from "./config-folder.ts";

const inToml = (text: string): Files => ({ ".ralph/ralph.toml": text });

test("plugins are a list of paths and names, empty unless said", async () => {
  expect((await load({})).config.plugins).toEqual([]);
  const file = inToml('plugins = ["./mine.ts", "ralph-plugin-x"]\n');
  expect((await load(file)).config.plugins).toEqual(["./mine.ts", "ralph-plugin-x"]);
});

test.each([
  ['plugins = "./mine.ts"\n', 'write it as a list: ["./mine.ts"]'],
  ['plugin = ["./mine.ts"]\n', 'unknown key "plugin". Did you mean "plugins"?'],
  ["plugins = [1]\n", "expected a text in quotes, got 1"],
  ['[plugins]\npath = "x"\n', 'expected a list of texts, such as ["one", "two"]'],
])("%j is refused with what to write", async (text, says) => {
  expect(await complaint(inToml(text))).toContain(says);
});

test("a gate of a plugin must not have the name of a configured one", async () => {
  const { config } = await load(inToml('agent = "demo"\n[[gates]]\nname = "links"\ncommand = "true"\n'));
  const source = { kind: "goal", label: "", path: null } as const;
  const [links] = resolveSettings(config, {}, source, BUILT_IN).commands.gates;
  const gates: readonly GateSettings[] = links === undefined ? [] : [{ ...links, plugin: "mine" }];
  expect(() => resolveSettings(config, {}, source, BUILT_IN, { names: ["mine"], gates })).toThrow(
    'the gate "links" of the plugin "mine" has the name of another gate',
  );
});
