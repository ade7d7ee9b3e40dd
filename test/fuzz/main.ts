// `npm run fuzz -- --minutes 30`: random input for everything that reads what people and agents write. It fails on a
// crash that is not a clear refusal, and on input that takes far longer than its length explains.
import { parseArgs } from "node:util";
import { readJson } from "../../src/config/read-json.ts";
import { readToml } from "../../src/config/read-toml.ts";
import { readYaml } from "../../src/config/read-yaml.ts";
import { scanChecklist } from "../../src/adapters/tasks/scan-checklist.ts";
import { scanRoadmap } from "../../src/adapters/tasks/scan-roadmap.ts";
import { scanTasksJson } from "../../src/adapters/tasks/scan-tasks-json.ts";
import { RalphError } from "../../src/core/ralph-error.ts";
import { createRedactor } from "../../src/core/redact.ts";
import { createSignalReader } from "../../src/core/report/read-signals.ts";
import { templateProblem } from "../../src/core/prompt/template.ts";
import { Random } from "../simulation/random.ts";
import { hostileText } from "./hostile-text.ts";

type Target = (text: string) => void;

const TARGETS: Readonly<Record<string, Target>> = {
  checklist: (text) => void scanChecklist(Buffer.from(text, "latin1")),
  roadmap: (text) => void scanRoadmap(Buffer.from(text, "latin1")),
  "tasks.json": (text) => void scanTasksJson(Buffer.from(text), "tasks.json"),
  signals: (text) => {
    const reader = createSignalReader({ completion: "COMPLETE", requireXml: false });
    for (const line of text.split("\n")) reader.readLine(line);
    reader.report(null);
  },
  toml: (text) => void readToml(text),
  yaml: (text) => void readYaml(text),
  json: (text) => void readJson(text),
  redact: (text) => void createRedactor(["sentinel-value"])(text),
  template: (text) => void templateProblem(text),
};

/**
 * A second for a megabyte, and a little for small ones: quadratic time is far beyond that. YAML is read by a library
 * that takes longer with many mistakes; files are bounded for its sake.
 */
const ALLOWED_MS = (name: string, length: number): number =>
  (500 + length / 1_000) * (name === "yaml" ? 4 : 1);

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "1" }, seed: { type: "string", default: "1" } },
});
const until = performance.now() + Number(values.minutes) * 60_000;
const counts = new Map<string, { inputs: number; bytes: number; refused: number; slowestMs: number }>();
const failures: string[] = [];
for (let seed = Number(values.seed); performance.now() < until && failures.length < 10; seed += 1) {
  for (const [name, target] of Object.entries(TARGETS)) tryOne(name, target, seed);
}
for (const [name, { inputs, bytes, refused, slowestMs }] of counts) {
  console.log(
    `${name.padEnd(12)} ${inputs} inputs, ${(bytes / 1e6).toFixed(0)} MB, ${refused} refused, slowest ${slowestMs.toFixed(0)} ms`,
  );
}
console.log(`${failures.length} failures`);
process.exitCode = failures.length === 0 ? 0 : 1;

function tryOne(name: string, target: Target, seed: number): void {
  const text = hostileText(new Random(seed), name);
  const count = counts.get(name) ?? { inputs: 0, bytes: 0, refused: 0, slowestMs: 0 };
  const startedAt = performance.now();
  try {
    target(text);
  } catch (error) {
    count.refused += 1;
    if (!isRefusal(error))
      fail(name, seed, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const ms = performance.now() - startedAt;
  if (ms > ALLOWED_MS(name, text.length))
    fail(name, seed, `${ms.toFixed(0)} ms for ${text.length} characters`);
  counts.set(name, {
    inputs: count.inputs + 1,
    bytes: count.bytes + text.length,
    refused: count.refused,
    slowestMs: Math.max(count.slowestMs, ms),
  });
}

/** A sentence for a person, or the mistake with its place, which becomes one. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof RalphError ||
    (error instanceof Error && error.name !== "TypeError" && error.name !== "RangeError")
  );
}

function fail(name: string, seed: number, what: string): void {
  failures.push(name);
  console.log(`${name}, seed ${seed}: ${what}`);
}
