import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentProgram } from "./agent-settings.ts";
import { partsOf, type Way } from "./matrix.ts";

/** What an operator has set up for a program: files below HOME, and in the repository. */
export interface OwnSetUp {
  /** Text is added to what the tests need there, fields to a JSON object. */
  readonly inHome: Readonly<Record<string, string | object>>;
  readonly inRepository: Readonly<Record<string, string>>;
  /** Files that their effects leave behind in the temporary folder. */
  readonly leaves: readonly string[];
  /** What the model is told of it. */
  readonly tells: readonly string[];
  /** Files that the program itself writes to: there may be more in them afterwards, but nothing of ours. */
  readonly rewrites: readonly string[];
}

const HOME_WORDS = "The operator always wants zebras.";
const REPOSITORY_WORDS = "This repository always wants giraffes.";
const WORDS = [HOME_WORDS, REPOSITORY_WORDS];

/** A server of theirs leaves a file when it is started, and so does a hook. */
export function ownSetUp(way: Way, temporary: string): OwnSetUp {
  const server = [process.execPath, "-e", SERVER, join(temporary, "server-ran")];
  const setUp = SET_UPS[partsOf(way).agent](server, `touch '${join(temporary, "hook-ran")}'`);
  // By the protocol it runs no hooks.
  return way === "acp:gemini" ? { ...setUp, leaves: ["server-ran"] } : setUp;
}

const SERVER = `require("node:fs").writeFileSync(process.argv[1], "");
require("node:readline").createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "theirs", version: "1" } },
    "tools/list": { tools: [{ name: "theirs", description: "Theirs", inputSchema: { type: "object" } }] },
  };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
}).on("close", () => process.exit());`;

type SetUp = (server: readonly string[], hook: string) => OwnSetUp;

const SET_UPS: Readonly<Record<AgentProgram, SetUp>> = {
  claude: ([command, ...args], hook) => ({
    inHome: {
      ".claude.json": { mcpServers: { theirs: { type: "stdio", command, args, env: {} } } },
      ".claude/settings.json": {
        hooks: { PostToolUse: [{ matcher: "*", hooks: [{ type: "command", command: hook }] }] },
      },
      ".claude/CLAUDE.md": HOME_WORDS,
    },
    inRepository: { "CLAUDE.md": REPOSITORY_WORDS },
    leaves: ["server-ran", "hook-ran"],
    tells: WORDS,
    rewrites: [".claude.json"],
  }),
  codex: ([command, ...args]) => ({
    inHome: {
      ".codex/config.toml": `
[mcp_servers.theirs]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
`,
      ".codex/AGENTS.md": HOME_WORDS,
    },
    inRepository: { "AGENTS.md": REPOSITORY_WORDS },
    leaves: ["server-ran"],
    tells: WORDS,
    rewrites: [],
  }),
  gemini: ([command, ...args], hook) => ({
    inHome: {
      ".gemini/settings.json": {
        mcpServers: { theirs: { command, args } },
        hooks: { AfterTool: [{ hooks: [{ type: "command", command: `${hook}; echo '{}'` }] }] },
      },
      ".gemini/GEMINI.md": HOME_WORDS,
    },
    inRepository: { "GEMINI.md": REPOSITORY_WORDS },
    leaves: ["server-ran", "hook-ran"],
    tells: WORDS,
    rewrites: [],
  }),
  opencode: (server, hook) => ({
    inHome: {
      ".config/opencode/opencode.json": { mcp: { theirs: { type: "local", command: server } } },
      ".config/opencode/plugin/theirs.js": `export const Theirs = async ({ $ }) => ({
  "tool.execute.after": async () => { await $\`sh -c \${${JSON.stringify(hook)}}\`; },
});
`,
      ".config/opencode/AGENTS.md": HOME_WORDS,
    },
    inRepository: { "AGENTS.md": REPOSITORY_WORDS },
    leaves: ["server-ran", "hook-ran"],
    tells: WORDS,
    rewrites: [],
  }),
  copilot: ([command, ...args]) => ({
    inHome: {
      ".copilot/mcp-config.json": { mcpServers: { theirs: { type: "local", command, args, tools: ["*"] } } },
      ".copilot/copilot-instructions.md": HOME_WORDS,
    },
    inRepository: { "AGENTS.md": REPOSITORY_WORDS },
    leaves: ["server-ran"],
    tells: WORDS,
    rewrites: [],
  }),
};

/** What of the set-up is gone or different, and what of it had no effect; empty when it was respected. */
export function spoiltOf(
  { leaves, tells, rewrites, inRepository }: OwnSetUp,
  written: Readonly<Record<string, string>>,
  places: { readonly home: string; readonly temporary: string; readonly repository: string },
  asked: string,
): readonly string[] {
  const text = (folder: string, path: string): string | null =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : null;
  const inHome = Object.entries(written).filter(([path, before]) => {
    const now = text(places.home, path);
    return rewrites.includes(path) ? now === null || /RALPH_|ralph-iteration/.test(now) : now !== before;
  });
  const changed = Object.entries(inRepository).filter(
    ([path, before]) => text(places.repository, path) !== before,
  );
  return [
    ...[...inHome, ...changed].map(([path]) => `${path} is different`),
    ...leaves.filter((name) => !existsSync(join(places.temporary, name))).map((name) => `no ${name}`),
    ...tells.filter((words) => !asked.includes(words)).map((words) => `the model was not told: ${words}`),
  ];
}
