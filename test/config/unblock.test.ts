import { PLAIN } from "../../src/core/agents.ts";
import { expect, test } from "vitest";
import { resolveSettings, type RunFlags } from "../../src/config/resolve-settings.ts";
import type { Settings } from "../../src/core/settings.ts";
import { complaint, load, type Files } from "./config-folder.ts";

const inToml = (text: string): Files => ({ ".ralph/ralph.toml": text });

async function settingsOf(files: Files, flags: RunFlags = {}): Promise<Settings> {
  const { config } = await load(files, { RALPH_AGENT: "mine" });
  const source = { kind: "checklist", label: "TODO.md", path: "TODO.md" } as const;
  const mine = { ...PLAIN, name: "mine", format: "text", command: ["x"] } as const;
  return resolveSettings(config, flags, source, [mine]).settings;
}

test("what unblocks itself, and how many iterations a task gets, has defaults", async () => {
  expect(await settingsOf({})).toMatchObject({
    unblock: { autoSuggest: true, maxAutoAttempts: 1 },
    adaptiveIterations: false,
  });
});

test("both can be changed", async () => {
  const file =
    "[run]\nadaptive_iterations = true\n[unblock]\nauto_suggest = false\nmax_auto_unblock_attempts = 3\n";
  expect(await settingsOf(inToml(file))).toMatchObject({
    unblock: { autoSuggest: false, maxAutoAttempts: 3 },
    adaptiveIterations: true,
  });
});

test("--max-attempts is stronger than the file", async () => {
  const file = inToml("[run]\nmax_attempts = 5\n");
  expect((await settingsOf(file, { maxAttempts: 1 })).limits.maxAttempts).toBe(1);
  expect((await settingsOf(file)).limits.maxAttempts).toBe(5);
});

test("a wrong value is named with what is right", async () => {
  expect(await complaint(inToml("[unblock]\nauto_sugest = true\n"))).toContain(
    '.ralph/ralph.toml:2: unknown key "auto_sugest" in [unblock]. Did you mean "auto_suggest"?',
  );
  expect(await complaint(inToml("[unblock]\nmax_auto_unblock_attempts = -1\n"))).toContain(
    "a whole number, 0 or more",
  );
});
