// `npm run check`: every check of the project, the static ones side by side. Prints one line a step, the output
// of failing steps only, and last the count of tests. A failed step without tests counts as one failure, so that
// the count never looks green when something is red.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

type Step = { readonly name: string; readonly command: string };
type Outcome = { readonly ok: boolean; readonly output: string };
type Tally = { passed: number; failed: number; skipped: number };

const root = join(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "ralph-check-"));

const staticSteps: readonly Step[] = [
  { name: "lock file", command: "node scripts/complete-lock.ts --check" },
  { name: "format", command: "prettier --check --log-level warn ." },
  { name: "lint", command: "oxlint --type-aware --deny-warnings" },
  { name: "types: core", command: "tsc -p src/core" },
  { name: "types: page", command: "tsc -p src/web/client" },
  { name: "types: src", command: "tsc -p ." },
  { name: "types: test", command: "tsc -p test" },
  { name: "dead code", command: "knip" },
];
const build: Step = { name: "build", command: "node scripts/build.ts" };
// By themselves, so that nothing else takes the time that the programs need to start.
const testRuns = [
  { name: "tests", command: "vitest run" },
  { name: "real agents: their programs", command: "node test/agents/install-programs.ts" },
  { name: "real agents", command: "REAL_AGENTS=core vitest run" },
] as const;

const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
try {
  await runStatic([...staticSteps]);
  await runCounted(build);
  for (const step of testRuns) {
    if (step.command.endsWith("vitest run")) await runTests(step);
    else await runCounted(step);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : "";
console.log(`${tally.passed} passed, ${tally.failed} failed${skipped}`);
process.exitCode = tally.failed > 0 ? 1 : 0;

async function runStatic(queue: Step[]): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) await runCounted(step);
  };
  await Promise.all([worker(), worker()]);
}

async function runCounted(step: Step): Promise<void> {
  const { ok } = await run(step);
  if (!ok) tally.failed += 1;
}

function run(step: Step): Promise<Outcome> {
  const started = performance.now();
  const PATH = [join(root, "node_modules", ".bin"), process.env["PATH"]].join(delimiter);
  const child = spawn(step.command, { cwd: root, shell: true, env: { ...process.env, PATH }, stdio: "pipe" });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const ok = code === 0;
      const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
      console.log(`${ok ? "ok    " : "FAILED"} ${seconds} s  ${step.name}`);
      if (!ok) console.log(`$ ${step.command}\n${output.trimEnd()}\n`);
      resolve({ ok, output });
    });
  });
}

async function runTests({ name, command }: Step): Promise<void> {
  const report = join(scratch, `${name}.json`);
  const { ok } = await run({
    name,
    command: `${command} --reporter=default --reporter=json --outputFile.json="${report}"`,
  });
  const counted = readVitestReport(report);
  tally.passed += counted.passed;
  tally.skipped += counted.skipped;
  // A file that does not load or an error outside a test fails the run without a failed test.
  tally.failed += ok ? counted.failed : Math.max(counted.failed, 1);
}

function readVitestReport(path: string): Tally {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }; // no report: vitest did not start, and its exit code says so
  }
  const report = JSON.parse(text) as Record<
    "numPassedTests" | "numFailedTests" | "numPendingTests" | "numTodoTests",
    number
  >;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
