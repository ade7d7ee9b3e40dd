import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { agentSettings, type AgentProgram } from "./agent-settings.ts";
import { installPrograms, systemPath } from "./install-programs.ts";

/** The programs as servers of the Agent Client Protocol. */
export const ACP_COMMANDS: Readonly<Record<AgentProgram, readonly string[]>> = {
  claude: ["claude-agent-acp"],
  codex: ["codex-acp"],
  gemini: ["gemini", "--acp", "--skip-trust", "-m", "gemini-2.5-pro"],
  opencode: ["opencode", "acp"],
  copilot: ["copilot", "--acp", "--no-auto-update", "--disable-builtin-mcps"],
};

export interface ScratchHome {
  readonly home: string;
  /** All that the program gets to see: nothing of the machine's but its PATH. */
  readonly env: Readonly<Record<string, string>>;
  dispose(): void;
}

/** A HOME in which a real program talks to the scripted model; runs at the same time need one each. */
export async function scratchHome(
  agent: AgentProgram,
  modelUrl: string,
  scenario: string,
): Promise<ScratchHome> {
  const programs = await installPrograms();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-agent-")));
  const [home, temporary, bin] = ["home", "tmp", "bin"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, temporary, bin]) mkdirSync(path);
  // Some programs are scripts, and the machine's own Node may be too old for them.
  symlinkSync(process.execPath, join(bin, "node"));
  const settings = agentSettings(agent, `${modelUrl}/s/${scenario}`);
  for (const [path, content] of Object.entries(settings.files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const env = {
    PATH: [bin, join(programs, "bin"), systemPath()].join(delimiter),
    HOME: home,
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Agent",
    GIT_AUTHOR_EMAIL: "agent@example.com",
    GIT_COMMITTER_NAME: "Agent",
    GIT_COMMITTER_EMAIL: "agent@example.com",
    ...settings.env,
  };
  return { home, env, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}
