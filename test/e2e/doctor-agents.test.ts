import { PROGRAM_FACTS } from "../../src/adapters/agents/programs/program-belongings.ts";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pathWithoutAgents } from "../fixtures/path-without-agents.ts";
import { createProject, exists, type Project } from "./project.ts";

let folder: string;
let project: Project;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-programs-"));
});
afterEach(() => {
  project.dispose();
  rmSync(folder, { recursive: true });
});

const CLAUDE = `${PROGRAM_FACTS.claude.triedVersion} (Claude Code)`;
const RESULT = JSON.stringify({
  type: "result",
  subtype: "success",
  is_error: false,
  result: "<promise>COMPLETE</promise>",
  session_id: "s",
});

/** A program that tells its version, and otherwise does the task and says so in Claude's words. */
function install(name: string, version: string): void {
  mkdirSync(join(folder, "bin"), { recursive: true });
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo '${version}'; exit; fi
echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt"
echo '${RESULT}'
`;
  writeFileSync(join(folder, "bin", name), script);
  chmodSync(join(folder, "bin", name), 0o755);
}

function createWith(config: string, env: Readonly<Record<string, string>> = {}): Project {
  const PATH = `${join(folder, "bin")}:${pathWithoutAgents(join(folder, "others"))}`;
  return createProject({ config, env: { PATH, ...env } });
}

interface Finding {
  readonly name: string;
  readonly well: boolean;
  readonly found: string;
  readonly advice: string | null;
}

async function findings(): Promise<readonly Finding[]> {
  const { stdout } = await project.ralph("doctor", "--json");
  return JSON.parse(stdout) as readonly Finding[];
}

describe("ralph doctor", () => {
  test("tells the version, the place, the account and the abilities of an agent", async () => {
    install("claude", CLAUDE);
    project = createWith('agent = "claude"\n', { ANTHROPIC_API_KEY: "sk-ant-secret" });
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toContain(
      `✔ agent claude: ${CLAUDE} · ${join(folder, "bin", "claude")} · uses the key in ANTHROPIC_API_KEY, billed by use · resumes sessions, gets our tools, takes messages while it runs, tells its cost\n`,
    );
    expect(stdout).not.toContain("sk-ant-secret");
    expect(code).toBe(0);
  });

  test.runIf(process.platform !== "darwin")("says how to log in to one that has no account", async () => {
    install("claude", CLAUDE);
    project = createWith('agent = "claude"\n');
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toMatch(
      /✗ agent claude: [\d.]+ .* · neither a login nor ANTHROPIC_API_KEY · .*\n {4}→ run claude once and log in, or set ANTHROPIC_API_KEY\n/,
    );
    expect(code).toBe(1);
  });

  test.runIf(process.platform !== "darwin")("does not count a key that the agent will not get", async () => {
    install("claude", CLAUDE);
    const config = 'agent = "claude"\n[agents.claude]\nenv_deny = ["ANTHROPIC_API_KEY"]\n';
    project = createWith(config, { ANTHROPIC_API_KEY: "stray" });
    expect(await project.ralph("doctor")).toMatchObject({ code: 1 });
    project.write(".ralph/ralph.toml", `${config}env = { ANTHROPIC_API_KEY = "own" }\n`);
    expect(await project.ralph("doctor")).toMatchObject({ code: 0 });
  });

  test("says how to install the agent of the run when it is not there", async () => {
    project = createWith('agent = "claude"\n');
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toContain(
      "✗ agent claude: claude is not installed\n    → npm install -g @anthropic-ai/claude-code\n",
    );
    expect(code).toBe(1);
  });

  test("names a configuration that cannot be read as such, and looks at all that does not need it", async () => {
    project = createWith('agnet = "demo"\n');
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toMatch(
      /✔ locks: .*\n✗ configuration: \.ralph\/ralph\.toml:1: unknown key "agnet".*\n {4}→ /,
    );
    expect(code).toBe(1);
  });

  test("minds the agents of the stages, and the usual one only where a stage has none", async () => {
    const pipeline = (reviewer: string): string =>
      `[stages.coder]\nagent = "demo"\n[stages.reviewer]\nagent = "${reviewer}"\n`;
    project = createWith(pipeline("codex"));
    expect((await project.ralph("doctor")).stdout).toContain("✗ agent codex: codex is not installed\n");
    project.write(".ralph/ralph.toml", pipeline("demo"));
    expect(await project.ralph("doctor")).toMatchObject({ code: 0 });
  });

  test("does not mind agents that no run would use", async () => {
    install("codex", "codex-cli 0.166.0");
    project = createWith('agent = "demo"\n');
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toContain("✔ agent claude: not installed (npm install -g @anthropic-ai/claude-code)\n");
    expect(stdout).toMatch(/✔ agent codex: codex-cli 0\.166\.0 .* · neither a login nor CODEX_API_KEY · /);
    expect(code).toBe(0);
  });

  test("wants fallback agents to be there, also those that are named by their command", async () => {
    project = createWith('agent = "demo"\n[run]\nfallback_agents = ["gemini", "acp:no-such-agent --acp"]\n');
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toContain("✗ agent gemini: gemini is not installed\n");
    expect(stdout).toContain("✗ agent acp:no-such-agent --acp: no-such-agent is not installed\n");
    expect(code).toBe(1);
  });

  test("says which version was tried when there is another one", async () => {
    install("claude", "3.0.1 (Claude Code)");
    project = createWith('agent = "claude"\n', { ANTHROPIC_API_KEY: "k" });
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toContain(
      `✔ agent claude: 3.0.1 (Claude Code) (tried with ${PROGRAM_FACTS.claude.triedVersion}) · `,
    );
    expect(code).toBe(0);
  });

  test("does not trust a program that cannot tell its version", async () => {
    install("claude", CLAUDE);
    writeFileSync(join(folder, "bin", "claude"), "#!/bin/sh\nexit 1\n");
    project = createWith('agent = "claude"\n', { ANTHROPIC_API_KEY: "k" });
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toMatch(/✗ agent claude: does not tell its version · .*\n {4}→ npm install -g /);
    expect(code).toBe(1);
  });

  test("knows an agent under another name", async () => {
    install("claude", CLAUDE);
    const config = 'agent = "opus"\n[agents.opus]\nformat = "claude"\nmodel = "opus"\n';
    project = createWith(config, { ANTHROPIC_API_KEY: "k" });
    expect((await project.ralph("doctor")).stdout).toContain(`✔ agent opus: ${CLAUDE} · `);
  });

  test("--json has the same for programs", async () => {
    install("claude", CLAUDE);
    project = createWith('agent = "claude"\n', { ANTHROPIC_API_KEY: "k" });
    const agents = (await findings()).filter(({ name }) => name.startsWith("agent "));
    expect(agents.map(({ name, well }) => [name, well])).toEqual([
      ["agent claude", true],
      ["agent codex", true],
      ["agent gemini", true],
      ["agent opencode", true],
      ["agent copilot", true],
      ["agent demo", true],
    ]);
    expect(agents[0]?.found).toContain(CLAUDE);
    expect(agents[1]).toMatchObject({ advice: "npm install -g @openai/codex" });
  });
});

describe("ralph run", () => {
  test("says whose key is used, but not when it is to be quiet", async () => {
    install("claude", CLAUDE);
    project = createWith('agent = "claude"\n', { ANTHROPIC_API_KEY: "sk-ant-secret" });
    const said = "ralph: claude uses the key in ANTHROPIC_API_KEY, billed by use\n";
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: said });
    project.write("TODO.md", "- [ ] **two**: make two\n");
    project.commit();
    expect(await project.ralph("run", "--quiet")).toMatchObject({ code: 0, stderr: "" });
    expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
  });

  test.runIf(process.platform !== "darwin")(
    "tries one that seems to have no account, and says so",
    async () => {
      install("claude", CLAUDE);
      project = createWith('agent = "claude"\n');
      expect(await project.ralph("run")).toMatchObject({
        code: 0,
        stderr:
          "ralph: claude may not be logged in: neither a login nor ANTHROPIC_API_KEY was found; see ralph doctor\n",
      });
    },
  );

  test("with an agent that is not installed says so and records nothing", async () => {
    project = createWith('agent = "demo"\n');
    const { code, stdout, stderr } = await project.ralph("run", "--agent", "claude");
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toMatch(
      /^ralph: the agent "claude" needs the program claude, which is not installed\n.*npm install -g @anthropic-ai\/claude-code, or choose another agent with --agent\n$/,
    );
    install("codex", "codex-cli 0.1");
    expect((await project.ralph("run", "--agent", "claude")).stderr).toContain(
      "→ npm install -g @anthropic-ai/claude-code, or choose another agent with --agent; installed here: codex\n",
    );
    expect((await project.ralph("run", "--agent", "acp:codex-acp")).stderr).toContain(
      "→ npm install -g @agentclientprotocol/codex-acp, or ",
    );
    expect(await project.history()).toEqual([]);
    expect(await project.events()).toEqual([]);
    expect(exists(project, ".ralph/logs")).toBe(false);
    expect(project.git("status", "--porcelain")).toBe("");
  });
});

describe("ralph init", () => {
  test("chooses the agent that is installed, and the result can be loaded", async () => {
    install("claude", CLAUDE);
    project = createWith("");
    project.remove(".ralph");
    expect(await project.ralph("init")).toMatchObject({ code: 0, stderr: "" });
    const written = project.read(".ralph/ralph.toml");
    expect(written.match(/^(?!#).*\S.*$/gm)).toEqual([expect.stringMatching(/^agent = "claude" +# found/)]);
    const { code, stdout } = await project.ralph("config");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^agent\b.*claude.*ralph\.toml:2$/m);
    expect(stdout).not.toMatch(/^agents\./m);
  });

  test("takes the demo agent where none is installed, and shows how to name one", async () => {
    project = createWith("");
    project.remove(".ralph");
    await project.ralph("init");
    const written = project.read(".ralph/ralph.toml");
    expect(written).toMatch(/^#:schema \.\/ralph\.schema\.json\nagent = "demo" +# .*no agent was found/);
    expect(await project.ralph("config")).toMatchObject({ code: 0 });
    const chosen = written
      .replace(/^agent = .*\n/m, "")
      .replaceAll(/^# (agent|\[agents|command = \["my)/gm, "$1");
    project.write(".ralph/ralph.toml", chosen);
    expect((await project.ralph("config")).stdout).toMatch(/^agents\.mine\.command\b.*my-agent/m);
  });
});
