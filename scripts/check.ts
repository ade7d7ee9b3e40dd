// `npm run check`: every check of the project, the static ones side by side. Prints one line a step, the output
// of failing steps only (what failed first: often only the head of a long output is kept), and last the names of
// what failed and the count of tests. A failed step without tests counts as one failure, so that the count never
// looks green when something is red.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { makeScratchFolder } from "./scratch-folder.ts";
import { endOf, listFailures, tellFailures, type Failure, type TestReport } from "./test-report.ts";

interface Step {
  readonly name: string;
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  readonly failures: Failure[];
}

const root = join(import.meta.dirname, "..");
const scratch = makeScratchFolder();

const staticSteps: readonly Step[] = [
  { name: "format: all but tests", command: "prettier --check --log-level warn . '!test/**'" },
  { name: "format: tests", command: "prettier --check --log-level warn test" },
  { name: "lock file", command: "node scripts/complete-lock.ts --check" },
  { name: "lint", command: "oxlint --type-aware --deny-warnings" },
  { name: "types: core", command: "tsc -p src/core" },
  { name: "types: page", command: "tsc -p src/web/client" },
  { name: "types: src", command: "tsc -p ." },
  { name: "types: test", command: "tsc -p test" },
  { name: "dead code", command: "knip" },
];
const build: Step = { name: "build", command: "node scripts/build.ts" };
const tests: Step = { name: "tests", command: "vitest run" };
const programs: Step = {
  name: "real agents: their programs",
  command: "node test/agents/install-programs.ts",
};
// By themselves, so that nothing else takes the time that the programs need to start.
const agents: Step = { name: "real agents", command: "REAL_AGENTS=core vitest run" };

const temporary = makeTemporaryFolder();
const tally: Tally = { passed: 0, failed: 0, skipped: 0, failures: [] };
try {
  await runStatic([...staticSteps]);
  await runCounted(build);
  // The registry sends the programs while the tests use the processor.
  await Promise.all([runTests(tests), runCounted(programs)]);
  await runTests(agents);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (tally.failures.length > 0) console.log(listFailures(tally.failures));
const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : "";
console.log(`${tally.passed} passed, ${tally.failed} failed${skipped}`);
process.exitCode = tally.failed > 0 ? 1 : 0;

/** Open to everybody as the machine's own is: some tests become somebody else. */
function makeTemporaryFolder(): string {
  const folder = join(scratch, "tmp");
  mkdirSync(folder);
  chmodSync(scratch, 0o755);
  chmodSync(folder, 0o1777);
  return folder;
}

async function runStatic(queue: Step[]): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) await runCounted(step);
  };
  await Promise.all([worker(), worker()]);
}

async function runCounted(step: Step): Promise<void> {
  if (await run(step)) return;
  tally.failed += 1;
  tally.failures.push({ file: step.name, name: "", message: "" });
}

async function runTests({ name, command }: Step): Promise<void> {
  const path = join(scratch, `${name}.json`);
  const step: Step = {
    name,
    command: `${command} --reporter=default --reporter=./scripts/test-reporter.ts`,
    env: {
      CHECK_REPORT: path,
      // Codex has a sandbox of its own, which shows nothing of memory's folder: real agents keep the machine's.
      ...(name === agents.name ? {} : { TMPDIR: temporary }),
      // Thousands of processes run the same programs: compiled once is enough.
      NODE_COMPILE_CACHE: join(scratch, "compiled"),
    },
  };
  const ok = await run(step, () => tellFailures(readTestReport(path).failures));
  const report = readTestReport(path);
  tally.passed += report.passed;
  tally.skipped += report.skipped;
  // A file that does not load or an error outside a test fails the run without a failed test.
  tally.failed += ok ? report.failed : Math.max(report.failed, 1);
  if (ok) return;
  const nothingTold: Failure = { file: name, name: "", message: "" };
  tally.failures.push(...(report.failures.length > 0 ? report.failures : [nothingTold]));
}

/** Answers whether the step succeeded; if not, says what the step knows to have failed and the end of its output. */
function run(step: Step, tell = (): string => ""): Promise<boolean> {
  const started = performance.now();
  const PATH = [join(root, "node_modules", ".bin"), process.env["PATH"]].join(delimiter);
  const env = { ...process.env, ...step.env, PATH };
  const child = spawn(step.command, { cwd: root, shell: true, env, stdio: "pipe" });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const ok = code === 0;
      const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
      console.log(`${ok ? "ok    " : "FAILED"} ${seconds} s  ${step.name}`);
      if (!ok)
        console.log(
          [tell(), `$ ${step.command}\n${endOf(output)}\n`].filter((part) => part !== "").join("\n\n"),
        );
      resolve(ok);
    });
  });
}

function readTestReport(path: string): TestReport {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return { passed: 0, failed: 0, skipped: 0, failures: [] }; // vitest did not come to its end, as its exit code says
  }
  return JSON.parse(text) as TestReport;
}
