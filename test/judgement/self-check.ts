// Checks that the data of the judgement cases is true, by hand and without Ralph:
// node_modules/node/bin/node test/judgement/self-check.ts [part of an id]
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JudgementCase } from "./case.ts";

const lanes = 4;
const tsc = join(import.meta.dirname, "../../node_modules/.bin/tsc");

// Generous on purpose: what a gate does not use may be put back without harm.
const checkFile = new RegExp(
  [
    String.raw`(^|/)(tests?|specs?|t|__tests__|__snapshots__|fixtures|scripts|ci|checks?|lint)/`,
    String.raw`(^|/)[^/]*(test|spec|check|verify|lint|conftest|fixture)[^/]*$`,
    String.raw`(^|/)([Mm]akefile|GNUmakefile|justfile|Taskfile\.yml|CMakeLists\.txt|gradlew|mvnw|tox\.ini|setup\.cfg)$`,
    String.raw`(^|/)(tsconfig[^/]*\.json|jsconfig\.json|\.npmrc|mypy\.ini|pytest\.ini|ruff\.toml|\.flake8|\.coveragerc)$`,
    String.raw`(^|/)(\.c8rc|\.mocharc|\.nycrc|\.shellcheckrc|\.perlcriticrc|\.clang-tidy)[^/]*$`,
    String.raw`(^|/)(\.gitattributes|\.env|[^/]*\.env|build\.xml|[^/]*rules\.json|[^/]*(expected|approved)\.txt)$`,
    String.raw`(^|/)\.github/|\.(mk|config\.[cm]?[jt]s)$`,
  ].join("|"),
  "i",
);
const checkKeys = ["scripts", "jest", "mocha", "c8", "nyc", "ava", "eslintConfig", "workspaces"];

const part = process.argv[2] ?? "";
const all: JudgementCase[] = [];
for (const [file, name] of [
  ["./honest.ts", "HONEST"],
  ["./lies.ts", "LIES"],
] as const) {
  if (!existsSync(join(import.meta.dirname, file))) continue;
  const module = (await import(file)) as Record<string, readonly JudgementCase[]>;
  all.push(...module[name]!);
}
const twice = all.filter((one, index) => all.findIndex(({ id }) => id === one.id) !== index);
const problems = twice.map(({ id }) => `${id}: the id is used twice`);
const queue = all.filter(({ id }) => id.includes(part));
const count = queue.length;
const times: { readonly id: string; readonly time: number }[] = [];
await Promise.all(Array.from({ length: lanes }, work));
for (const problem of problems) console.log(problem);
const slowest = times.toSorted((a, b) => b.time - a.time).slice(0, 5);
console.log(`slowest gates: ${slowest.map(({ id, time }) => `${id} ${time} ms`).join(", ")}`);
console.log(`${count} cases, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

async function work(): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const folder = mkdtempSync(join(tmpdir(), "judgement-"));
    try {
      problems.push(...(await check(next, folder)).map((problem) => `${next.id}: ${problem}`));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function check(one: JudgementCase, folder: string): Promise<string[]> {
  const found: string[] = [];
  const git = (...args: string[]) => run(folder, "git", args);
  for (const [path, content] of Object.entries(one.files)) put(folder, path, content);
  await git("init", "-q", "-b", "main");
  await git("config", "user.name", "Owner");
  await git("config", "user.email", "owner@example.com");
  await git("add", "-A");
  await git("commit", "-q", "--allow-empty", "-m", "Start");
  const start = (await git("rev-parse", "HEAD")).output.trim();

  for (const script of typeof one.does === "string" ? [one.does] : one.does) {
    const done = await run(folder, "sh", ["-e", "-c", fill(script)]);
    if (done.code !== 0) return [`the script fails: ${done.output.slice(-500)}`];
  }
  await git("add", "-A");
  await git("commit", "-q", "--allow-empty", "-m", "Work");
  const names = (await git("diff", "--name-only", "--no-renames", "-z", start, "HEAD")).output.split("\0");
  const lost = Object.keys(one.files).filter((path) => readIfThere(folder, path) !== one.files[path]);
  const changed = [...new Set([...names.filter((name) => name !== ""), ...lost])];
  if (changed.length === 0 && one.gate === null) found.push("the work changes nothing");

  const gate = await runGate(one, folder);
  if (gate.code !== 0) found.push(`the gate is red after the work: ${gate.output.slice(-500)}`);
  times.push({ id: one.id, time: gate.time });
  const dirty = (await git("status", "--porcelain")).output;
  if (dirty !== "") found.push(`the gate leaves files behind: ${dirty}`);

  const touched = changed.filter((path) => putBack(one, folder, path));
  const before = await runGate(one, folder);
  const colour = before.code === 0 ? "green" : "red";
  if (one.oldChecks === "untouched" ? colour === "red" : touched.length === 0 || colour !== one.oldChecks) {
    found.push(
      `oldChecks is ${one.oldChecks}, but ${colour} with the old ${touched.join(", ") || "nothing"}`,
    );
    if (colour === "red") found.push(before.output.slice(-500));
  }
  return found;
}

/** Whether the path was a check file of the old tree, or is a new one, and is now as it was. */
function putBack({ files }: JudgementCase, folder: string, path: string): boolean {
  const old = files[path];
  if (path.endsWith("package.json") && old !== undefined && existsSync(join(folder, path))) {
    const was = JSON.parse(old) as Record<string, unknown>;
    const is = JSON.parse(readFileSync(join(folder, path), "utf8")) as Record<string, unknown>;
    const keys = checkKeys.filter((key) => JSON.stringify(was[key]) !== JSON.stringify(is[key]));
    for (const key of keys) is[key] = was[key];
    put(folder, path, JSON.stringify(is));
    return keys.length > 0;
  }
  if (path.endsWith("pyproject.toml") && old !== undefined && existsSync(join(folder, path))) {
    const tools = (toml: string) => toml.split(/^(?=\[)/m).filter((table) => table.startsWith("[tool."));
    const is = readFileSync(join(folder, path), "utf8");
    if (tools(is).join("").trim() === tools(old).join("").trim()) return false;
    const rest = is.split(/^(?=\[)/m).filter((table) => !table.startsWith("[tool."));
    put(folder, path, [...rest, ...tools(old)].join(""));
    return true;
  }
  if (!checkFile.test(path)) return false;
  if (old === undefined) rmSync(join(folder, path), { recursive: true, force: true });
  else put(folder, path, old);
  return true;
}

function readIfThere(folder: string, path: string): string | undefined {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : undefined;
}

function put(folder: string, path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
  chmodSync(join(folder, path), content.startsWith("#!") ? 0o755 : 0o644);
}

function fill(command: string): string {
  return command.replaceAll("{{tsc}}", tsc);
}

async function runGate({ gate }: JudgementCase, folder: string): Promise<Result> {
  return gate === null ? { code: 0, output: "", time: 0 } : run(folder, "sh", ["-c", fill(gate)]);
}

type Result = { readonly code: number; readonly output: string; readonly time: number };

function run(cwd: string, program: string, args: readonly string[]): Promise<Result> {
  const began = performance.now();
  return new Promise((resolve) => {
    execFile(program, args, { cwd, timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ code, output: stdout + stderr, time: Math.round(performance.now() - began) });
    });
  });
}
