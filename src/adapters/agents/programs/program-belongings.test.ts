import { PLAIN, NO_BELONGINGS, KNOWN_PROGRAMS } from "../../../core/agents.ts";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentSettings } from "../../../core/settings.ts";
import { adapterFor, sandboxesItself } from "../adapters.ts";
import {
  belongingsOfCommand,
  installCommand,
  PROGRAM_FACTS,
  programBelongings,
} from "./program-belongings.ts";

const HOME = "/home/me";

describe("every known program", () => {
  test.each(KNOWN_PROGRAMS)("%s has a folder of its own, and a variable for its key", (name) => {
    const { folders, variables } = programBelongings(name, { HOME });
    expect(folders.length).toBeGreaterThan(0);
    expect(folders.every(({ path }) => path === HOME || path.startsWith(`${HOME}/.`))).toBe(true);
    const keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GH_TOKEN"];
    expect(keys.some((key) => variables.test(key))).toBe(true);
    expect(variables.test("STRIPE_SECRET")).toBe(false);
  });
});

test("what the tests install is what we say that we tried, and how to install it", () => {
  const manifest = join(import.meta.dirname, "../../../../test/agents/programs/package.json");
  const { dependencies } = JSON.parse(readFileSync(manifest, "utf8")) as {
    dependencies: Record<string, string>;
  };
  const programs = [...KNOWN_PROGRAMS, "claude-agent-acp", "codex-acp"];
  const packages = programs.map((program) => installCommand(program)?.replace("npm install -g ", "") ?? "");
  expect(packages.toSorted()).toEqual(Object.keys(dependencies).toSorted());
  for (const [at, program] of KNOWN_PROGRAMS.entries())
    expect(PROGRAM_FACTS[program].triedVersion).toBe(dependencies[packages[at] ?? ""]);
});

test("claude's state lies beside its folder, and in it when that was moved", () => {
  const paths = (env: Record<string, string>): readonly string[] =>
    programBelongings("claude", env).folders.flatMap(({ path, copies }) =>
      copies.map((name) => join(path, name)),
    );
  expect(paths({ HOME })).toEqual([`${HOME}/.claude/.credentials.json`, `${HOME}/.claude.json`]);
  expect(paths({ HOME, CLAUDE_CONFIG_DIR: "/c" })).toEqual(["/c/.credentials.json", "/c/.claude.json"]);
});

test("claude gets the keys of a cloud only where it works with one", () => {
  const plain = programBelongings("claude", { HOME });
  expect(plain.variables.test("AWS_SECRET_ACCESS_KEY")).toBe(false);
  expect(plain.shows).toEqual([]);
  const bedrock = programBelongings("claude", { HOME, CLAUDE_CODE_USE_BEDROCK: "1" });
  expect(bedrock.variables.test("AWS_SECRET_ACCESS_KEY")).toBe(true);
  expect(bedrock.shows).toEqual([`${HOME}/.aws`]);
});

describe("codex", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ralph-codex-"));
    mkdirSync(join(folder, ".codex"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("gets the key of a provider that its settings name", () => {
    writeFileSync(join(folder, ".codex/config.toml"), '[model_providers.mine]\nenv_key = "MY_OWN_KEY"\n');
    const { variables } = programBelongings("codex", { HOME: folder });
    expect(["MY_OWN_KEY", "CODEX_API_KEY", "MY_OWN_KEY_2"].map((name) => variables.test(name))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

test.each([
  [["claude-agent-acp"], "claude"],
  [["/opt/bin/gemini", "--acp"], "gemini"],
  [["codex-acp"], "codex"],
])("%j of the protocol has the belongings of %s", (command, program) => {
  const known = KNOWN_PROGRAMS.find((name) => name === program) ?? "claude";
  expect(belongingsOfCommand(command, { HOME })).toEqual(programBelongings(known, { HOME }));
});

test("a command that nobody knows has none, unless it speaks for a known program", () => {
  expect(belongingsOfCommand(["my-agent"], { HOME })).toBe(NO_BELONGINGS);
  const mine: AgentSettings = { ...PLAIN, name: "mine", format: "text", command: ["mine"] };
  expect(adapterFor(mine).belongings?.(mine, { HOME })).toBeUndefined();
  const wrapper: AgentSettings = { ...mine, format: "codex" };
  expect(adapterFor(wrapper).belongings?.(wrapper, { HOME })).toEqual(programBelongings("codex", { HOME }));
});

test("codex makes a sandbox of its own unless it may do everything", () => {
  const codex: AgentSettings = { ...PLAIN, name: "codex", format: "codex", command: null };
  const acp: AgentSettings = { ...PLAIN, name: "acp", format: "acp", command: ["codex-acp"] };
  const others: AgentSettings = { ...PLAIN, name: "claude", format: "claude", command: null };
  const edits = [codex, acp, others].map((agent) => sandboxesItself({ ...agent, permissions: "edits" }));
  expect(edits).toEqual([true, true, false]);
  expect([codex, acp, others].some((agent) => sandboxesItself(agent))).toBe(false);
});
