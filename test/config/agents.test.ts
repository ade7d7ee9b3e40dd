import { PLAIN } from "../../src/core/agents.ts";
import { describe, expect, test } from "vitest";
import { requireAgent, resolveAgents } from "../../src/config/resolve-agents.ts";
import { RalphError } from "../../src/core/errors.ts";
import type { AgentSettings } from "../../src/core/settings.ts";
import { BUILT_IN, complaint, load } from "./config-folder.ts";

interface Chosen {
  /** Of the command line; otherwise the one of the file. */
  readonly agent?: string;
  readonly model?: string;
}

/** The agent that a run with this configuration would use. */
async function agentIn(toml: string, { agent, model }: Chosen = {}): Promise<AgentSettings> {
  const { config } = await load({ ".ralph/ralph.toml": toml });
  const name = agent ?? config.agent;
  return requireAgent(name, resolveAgents(config, BUILT_IN, { name, model }));
}

/** What a person is told instead. */
async function refusal(toml: string, chosen: Chosen = {}): Promise<string> {
  try {
    await agentIn(toml, chosen);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    return `${error.code}: ${error.message}\n${error.hint ?? ""}`;
  }
  return "nothing is wrong";
}

const KNOWN = ["claude", "codex", "gemini", "opencode", "copilot"] as const;

describe("an agent that we know", () => {
  test.each(KNOWN)("needs no section: %s", async (name) => {
    expect(await agentIn(`agent = "${name}"`)).toEqual({ ...PLAIN, name, format: name, command: null });
  });

  test("is claude when nobody says otherwise", async () => {
    expect(await agentIn("")).toMatchObject({ name: "claude", format: "claude", command: null });
  });

  test("is changed by a section of its name, and the others stay as they are", async () => {
    const toml = `
[agents.claude]
model = "opus"
args = ["--max-turns", "50"]
session = "resume"
permission_mode = "edits"
env = { EXTRA = "1" }
env_deny = ["ANTHROPIC_API_KEY"]
`;
    expect(await agentIn(toml)).toEqual({
      name: "claude",
      format: "claude",
      command: null,
      model: "opus",
      args: ["--max-turns", "50"],
      session: "resume",
      permissions: "edits",
      env: { EXTRA: "1" },
      envDeny: ["ANTHROPIC_API_KEY"],
      prices: {},
    });
    expect(await agentIn(toml, { agent: "codex" })).toMatchObject({ model: null, args: [], env: {} });
  });

  test("goes by another name when that says which one it is", async () => {
    const toml = 'agent = "opus"\n[agents.opus]\nformat = "claude"\nmodel = "opus"\n';
    expect(await agentIn(toml)).toEqual({
      ...PLAIN,
      name: "opus",
      format: "claude",
      command: null,
      model: "opus",
    });
    expect(await agentIn(toml, { agent: "claude" })).toMatchObject({ name: "claude", model: null });
  });

  test("has the prices of the configuration, under whatever name", async () => {
    const toml =
      '[agents.opus]\nformat = "claude"\n[prices.opus]\ninput_per_mtok = 5\noutput_per_mtok = 25\n';
    const prices = { opus: { inputPerMtok: 5, outputPerMtok: 25 } };
    for (const agent of ["claude", "opus", "acp:x"])
      expect(await agentIn(toml, { agent })).toMatchObject({ prices });
  });
});

describe("--model", () => {
  test("is for the agent of the run, and over what the file says", async () => {
    const toml = '[agents.claude]\nmodel = "opus"\n[agents.other]\nformat = "claude"\nmodel = "haiku"\n';
    expect(await agentIn(toml, { model: "sonnet" })).toMatchObject({ model: "sonnet" });
    const { config } = await load({ ".ralph/ralph.toml": toml });
    const agents = resolveAgents(config, BUILT_IN, { name: "claude", model: "sonnet" });
    expect(requireAgent("other", agents).model).toBe("haiku");
    expect(requireAgent("codex", agents).model).toBeNull();
  });

  test("reaches an agent that is named by its command", async () => {
    expect(await agentIn("", { agent: "acp:x", model: "big" })).toMatchObject({
      format: "acp",
      model: "big",
    });
  });

  test("is refused where there is nothing to put it into", async () => {
    const own = 'agent = "mine"\n[agents.mine]\ncommand = ["mine"]\n';
    expect(await refusal(own, { model: "big" })).toBe(
      'config: the agent "mine" has a command of its own, into which we cannot put a model\nwrite it into the command of [agents.mine]',
    );
    expect(await refusal('agent = "demo"', { model: "big" })).toBe(
      'config: the agent "demo" follows its script and has no use for a model\nchoose another agent: --agent NAME',
    );
  });
});

describe("a command of the operator's own", () => {
  test("speaks plain text, or what it says", async () => {
    const toml = (more: string): string => `agent = "mine"\n[agents.mine]\ncommand = ["mine", "-y"]\n${more}`;
    const command = ["mine", "-y"];
    expect(await agentIn(toml(""))).toEqual({ ...PLAIN, name: "mine", format: "text", command });
    expect(await agentIn(toml('format = "codex"'))).toMatchObject({ format: "codex", command });
  });

  test("takes the place of a known agent of the same name", async () => {
    expect(await agentIn('[agents.claude]\ncommand = ["wrapper"]\nformat = "claude"\n')).toMatchObject({
      format: "claude",
      command: ["wrapper"],
    });
  });

  test.each([
    ['model = "big"', "a model"],
    ['args = ["-v"]', "args"],
    ['session = "resume"', 'session = "resume"'],
    ['permission_mode = "edits"', "permission_mode"],
  ])("cannot be given %s, and says so", async (line, what) => {
    const toml = `agent = "mine"\n[agents.mine]\ncommand = ["mine"]\nformat = "claude"\n${line}\n`;
    expect(await refusal(toml)).toBe(
      `config: the agent "mine" has a command of its own, into which we cannot put ${what}\nwrite it into the command of [agents.mine]`,
    );
  });

  test("that speaks the protocol is given all of it, by the protocol", async () => {
    const toml = `agent = "mine"
[agents.mine]
command = ["mine", "acp"]
format = "acp"
model = "big"
args = ["-v"]
session = "resume"
permission_mode = "own"
`;
    expect(await agentIn(toml)).toMatchObject({
      format: "acp",
      model: "big",
      args: ["-v"],
      session: "resume",
      permissions: "own",
    });
  });
});

describe("acp:COMMAND", () => {
  test.each([
    ["acp:opencode acp", ["opencode", "acp"]],
    ["acp: gemini   --acp ", ["gemini", "--acp"]],
    ['acp:"/opt/my agents/one" --name "a b"', ["/opt/my agents/one", "--name", "a b"]],
    [`acp:x --say='it is "so"' ""`, ["x", '--say=it is "so"', ""]],
    [`acp:x "it's"`, ["x", "it's"]],
  ])("%s", async (agent, command) => {
    expect(await agentIn("", { agent })).toEqual({ ...PLAIN, name: agent, format: "acp", command });
  });

  test("may have a section, which needs no command either", async () => {
    const toml = 'agent = "acp:x y"\n[agents."acp:x y"]\nmodel = "big"\nsession = "resume"\n';
    expect(await agentIn(toml)).toMatchObject({
      name: "acp:x y",
      format: "acp",
      command: ["x", "y"],
      model: "big",
      session: "resume",
    });
  });

  test("is an agent that is not there without a command", async () => {
    for (const agent of ["acp:", "acp:  ", 'acp:node "/x'])
      expect(await refusal("", { agent })).toContain(`no-agent: "${agent}" names no command`);
  });
});

describe("a name that nobody knows", () => {
  test("is answered with the one that was meant", async () => {
    expect(await refusal("", { agent: "cluade" })).toBe(
      'no-agent: there is no agent called "cluade". Did you mean "claude"?\nknown here: claude, codex, gemini, opencode, copilot, demo; any other program: [agents.cluade] command = ["…"] in .ralph/ralph.toml',
    );
    const toml = '[agents.reviewer]\ncommand = ["x"]\n';
    expect(await refusal(toml, { agent: "reviewr" })).toContain('Did you mean "reviewer"?');
  });

  test("is answered with all of them when it is near none, and with a section that can be written", async () => {
    const told = await refusal("", { agent: "gpt-5.5 high" });
    expect(told).toContain('there is no agent called "gpt-5.5 high".\nknown here: claude, ');
    expect(told).toContain('[agents."gpt-5.5 high"] command = ');
  });
});

describe("a mistake in a section is told with its file and line:", () => {
  test.each([
    ['model = ""', '"agents.claude.model": expected a text in quotes, which is not empty'],
    ["model = 5", '"agents.claude.model": expected a text in quotes, got 5; put it in quotes: "5"'],
    [
      'session = "resum"',
      '"agents.claude.session": expected "fresh" or "resume", got "resum". Did you mean "resume"?',
    ],
    [
      'permission_mode = "yolo"',
      '"agents.claude.permission_mode": expected "full", "edits" or "own", got "yolo"',
    ],
    ['format = "cluade"', 'Did you mean "claude"?'],
    ['arg = ["x"]', 'unknown key "arg" in [agents.claude]. Did you mean "args"?'],
    ['args = "x"', '"agents.claude.args": expected a list'],
    ["command = []", '"agents.claude.command": '],
    ["env = { A = 1 }", '"agents.claude.env.A": expected a text in quotes, got a number'],
  ])("%s", async (line, sentence) => {
    const told = await complaint({ ".ralph/ralph.toml": `# mine\n[agents.claude]\n${line}\n` });
    expect(told).toMatch(/^\.ralph\/ralph\.toml:3: /);
    expect(told).toContain(sentence);
  });

  test.each(["mine", '"acp:"'])("[agents.%s] without a command", async (name) => {
    const told = await complaint({ ".ralph/ralph.toml": `\n[agents.${name}]\nmodel = "big"\n` });
    expect(told).toMatch(/^\.ralph\/ralph\.toml:2: the agent "\S+" has no command; add for example: command/);
  });

  test.each(["text", "acp"])('format = "%s" without a command', async (format) => {
    const told = await complaint({ ".ralph/ralph.toml": `[agents.mine]\nformat = "${format}"\n` });
    expect(told).toMatch(/^\.ralph\/ralph\.toml:1: the agent "mine" has no command/);
  });
});
