import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtInAgents, findProgram } from "../../compose.ts";

export interface Detected {
  /** What the project itself calls its tests; null when nothing was recognised. */
  readonly tests: { readonly command: string; readonly because: string } | null;
  /** The first known agent on this machine. */
  readonly agent: string | null;
}

/** What can be known about a project without asking. */
export function detectProject(root: string, env: NodeJS.ProcessEnv): Detected {
  const programs = builtInAgents().filter(({ command }) => command === null);
  return {
    tests: detectTests(root),
    agent: programs.find(({ name }) => findProgram(name, root, env) !== null)?.name ?? null,
  };
}

const TEST_RULES: readonly (readonly [file: string, shows: RegExp, command: string])[] = [
  ["package.json", /"test"\s*:\s*"(?!echo \\"Error: no test)/, "npm test"],
  ["Makefile", /^test\s*:/m, "make test"],
  ["go.mod", /^module /m, "go test ./..."],
  ["Cargo.toml", /^\[(?:package|workspace)\]/m, "cargo test"],
  ["pytest.ini", /./, "python3 -m pytest"],
  ["pyproject.toml", /./, "python3 -m pytest"],
  ["setup.py", /./, "python3 -m pytest"],
];

function detectTests(root: string): Detected["tests"] {
  for (const [file, shows, command] of TEST_RULES) {
    const path = join(root, file);
    if (existsSync(path) && shows.test(readFileSync(path, "utf8"))) return { command, because: file };
  }
  return null;
}
