import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { agentSettings, type AgentProgram } from "./agent-settings.ts";
import { installPrograms, systemPath } from "./install-programs.ts";
import type { Way } from "./matrix.ts";
import { ownSetUp, type OwnSetUp, spoiltOf } from "./own-set-up.ts";

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
  /** Of the operator's own set-up, if there is one. */
  readonly inRepository: OwnSetUp["inRepository"];
  spoilt(repository: string, asked: string): readonly string[];
  dispose(): void;
}

/** A HOME in which a real program talks to the scripted model; runs at the same time need one each. */
export async function scratchHome(
  agent: AgentProgram,
  modelUrl: string,
  scenario: string,
  setUpFor: Way | null = null,
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
  const own = setUpFor === null ? NO_SET_UP : ownSetUp(setUpFor, temporary);
  const files = withOwn(settings.files, own);
  for (const [path, content] of Object.entries(files)) {
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
  return {
    home,
    env,
    inRepository: own.inRepository,
    spoilt: (repository, asked) => spoiltOf(own, files, { home, temporary, repository }, asked),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const NO_SET_UP: OwnSetUp = { inHome: {}, inRepository: {}, leaves: [], tells: [], rewrites: [] };

function withOwn(
  files: Readonly<Record<string, string>>,
  { inHome }: OwnSetUp,
): Readonly<Record<string, string>> {
  const added = Object.entries(inHome).map(([path, own]) => {
    const given = files[path];
    const text =
      typeof own === "string"
        ? `${given ?? ""}${own}`
        : JSON.stringify({ ...(JSON.parse(given ?? "{}") as object), ...own }, null, 2);
    return [path, text] as const;
  });
  return { ...files, ...Object.fromEntries(added) };
}
