import { describe, expect, test } from "vitest";
import { resolveSettings } from "../../src/config/resolve-settings.ts";
import { exitCodeOf, RalphError } from "../../src/core/errors.ts";
import type { VerifySettings } from "../../src/core/settings.ts";
import { BUILT_IN, complaint, load } from "./config-folder.ts";

const SOURCE = { kind: "goal", label: "goal", path: null } as const;

async function verifyIn(toml: string): Promise<VerifySettings | undefined> {
  const { config } = await load({ ".ralph/ralph.toml": toml });
  return resolveSettings(config, {}, SOURCE, BUILT_IN).settings.verify;
}

async function refusal(toml: string): Promise<string> {
  try {
    await verifyIn(toml);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    return `${exitCodeOf(error.code)}: ${error.message}\n${error.hint ?? ""}`;
  }
  return "nothing is wrong";
}

test("without a section a claim is looked at where there is doubt, by the programs that we know", async () => {
  expect(await verifyIn("")).toEqual({
    approve: "auto",
    oldChecks: "auto",
    oldChecksFail: "ask",
    reader: "auto",
    readerAgent: null,
    readerModel: null,
    readers: ["claude", "codex", "gemini", "opencode", "copilot"],
  });
});

test("a section changes what it names", async () => {
  const toml = `
[verify]
old_checks = "always"
old_checks_fail = "reject"
reader = "never"
reader_agent = "codex"
reader_model = "gpt-5.5"
`;
  expect(await verifyIn(toml)).toMatchObject({
    oldChecks: "always",
    oldChecksFail: "reject",
    reader: "never",
    readerAgent: "codex",
    readerModel: "gpt-5.5",
  });
});

describe("who reads without being named", () => {
  test("are agents that build on a known program, and those of the protocol", async () => {
    const toml = 'agent = "acp:gemini --acp"\n[agents.opus]\nformat = "claude"\nmodel = "opus"\n';
    expect((await verifyIn(toml))?.readers).toEqual(expect.arrayContaining(["opus", "acp:gemini --acp"]));
  });

  test("are no commands of one's own, whatever they speak", async () => {
    const toml = `
[agents.claude]
command = ["my-claude"]
format = "claude"
[agents.mine]
command = ["mine"]
[agents."acp:theirs"]
command = ["mine-too"]
format = "acp"
`;
    expect((await verifyIn(toml))?.readers).toEqual(["codex", "gemini", "opencode", "copilot"]);
  });
});

describe("a reader that is named", () => {
  test("may be a command of one's own", async () => {
    const toml = '[verify]\nreader_agent = "mine"\n[agents.mine]\ncommand = ["mine"]\n';
    expect(await verifyIn(toml)).toMatchObject({ readerAgent: "mine" });
  });

  test.each([
    [
      'reader_agent = "clade"',
      '64: "verify.reader_agent": there is no agent called "clade". Did you mean "claude"?',
    ],
    ['reader_agent = "acp:"', '64: "verify.reader_agent": "acp:" names no command'],
    ['reader_agent = "mine"\nreader_model = "x"', '64: the agent "mine" has a command of its own'],
  ])("is refused with %s", async (line, message) => {
    expect(await refusal(`[verify]\n${line}\n[agents.mine]\ncommand = ["mine"]\n`)).toContain(message);
  });
});

test.each([
  ['reader = "sometimes"', "verify.reader"],
  ['old_checks_fail = "auto"', "verify.old_checks_fail"],
  ['raeder = "always"', "raeder"],
])("%s is a mistake that is named", async (line, key) => {
  expect(await complaint({ ".ralph/ralph.toml": `[verify]\n${line}\n` })).toContain(key);
});
