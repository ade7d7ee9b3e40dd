// How much of src/ two small commands touch: files that are loaded, and files of which a function runs.
// Usage: node scripts/count-loaded.ts [--list]

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number; readonly startOffset: number }[];
    }[];
  }[];
}

const folder = mkdtempSync(join(tmpdir(), "ralph-count-"));
const project = join(folder, "project");
const env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };

function ralph(name: string, args: readonly string[]): void {
  const coverage = join(folder, name);
  const run = { ...env, NODE_V8_COVERAGE: coverage };
  execFileSync(process.execPath, [join(SRC, "main.ts"), ...args], { cwd: project, env: run, stdio: "pipe" });
  const loaded = new Set<string>();
  const executed = new Set<string>();
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), "utf8")) as Coverage;
    // Agents and tools that the command starts are programs of their own.
    if (!result.some(({ url }) => url.endsWith("/src/main.ts"))) continue;
    for (const { url, functions } of result) {
      if (!url.startsWith("file:") || !fileURLToPath(url).startsWith(`${SRC}/`)) continue;
      const path = fileURLToPath(url).slice(SRC.length + 1);
      loaded.add(path);
      // The first entry is the module itself.
      if (functions.slice(1).some(({ ranges }) => (ranges[0]?.count ?? 0) > 0)) executed.add(path);
    }
  }
  console.log(`${name}: ${loaded.size} files loaded, ${executed.size} files with a called function`);
  if (process.argv.includes("--list"))
    for (const path of [...loaded].toSorted()) console.log(`  ${executed.has(path) ? "*" : " "} ${path}`);
}

try {
  mkdirSync(join(project, ".ralph"), { recursive: true });
  const agent = ["sh", "-c", 'echo x > made; echo "<promise>COMPLETE</promise>"'];
  const config = `agent = "stub"\n[agents.stub]\ncommand = ${JSON.stringify(agent)}\n`;
  writeFileSync(
    join(project, ".ralph", "ralph.toml"),
    `${config}[[gates]]\nname = "made"\ncommand = "test -f made"\n`,
  );
  writeFileSync(join(project, "TODO.md"), "- [ ] **one**: make it\n");
  const git = (...args: readonly string[]): unknown =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
      cwd: project,
      env,
    });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Begin");
  ralph("run", ["run", "--quiet"]);
  ralph("status", ["status"]);
} finally {
  rmSync(folder, { recursive: true });
}
