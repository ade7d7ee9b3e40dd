// `npm run fuzz -- --minutes 30`: spoilt and hostile input for everything that reads what people, agents, browsers and
// other programs write. It fails on a crash that is not a clear refusal, on a broken promise, on input that takes far
// longer than its length explains, on a hang, and on memory without end. `--target NAME`, `--seed S` and `--inputs N`
// narrow it down; a failing input is kept, and told with the command that repeats it.
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recordFigures } from "../../scripts/record-figures.ts";
import { Random } from "../../src/eval/random.ts";
import { TARGETS } from "./all-targets.ts";
import { superviseFuzzing, type Failure } from "./supervise-fuzzing.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    inputs: { type: "string" },
    target: { type: "string" },
    record: { type: "boolean", default: false },
  },
});
const names = TARGETS.map(({ name }) => name).filter((name) => name === (values.target ?? name));
if (names.length === 0) {
  console.error(
    `fuzz: there is no target "${values.target}"; known: ${TARGETS.map(({ name }) => name).join(", ")}`,
  );
  process.exit(64);
}
const startedAt = performance.now();
const { tallies, failures } = await superviseFuzzing({
  names,
  from: Number(values.seed),
  inputs: values.inputs === undefined ? null : Number(values.inputs),
  minutes: Number(values.minutes),
});
for (const [name, { inputs, bytes, refused, slowestMs }] of tallies) {
  const size = (bytes / 1e6).toFixed(1);
  console.log(
    `${name.padEnd(16)} ${inputs} inputs, ${size} MB, ${refused} refused, slowest ${slowestMs.toFixed(0)} ms`,
  );
}
for (const failure of failures) tell(failure);
console.log(`${failures.length} failures`);
if (values.record) {
  const all = [...tallies.values()];
  const path = recordFigures("fuzz", `npm run fuzz -- --minutes ${values.minutes}`, {
    targets: tallies.size,
    inputs: all.reduce((sum, { inputs }) => sum + inputs, 0),
    megabytes: Math.round(all.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6),
    refused: all.reduce((sum, { refused }) => sum + refused, 0),
    slowest_ms: Math.round(Math.max(...all.map(({ slowestMs }) => slowestMs))),
    minutes: Math.round((performance.now() - startedAt) / 6_000) / 10,
    failures: failures.length,
  });
  console.log(path);
}
process.exitCode = failures.length === 0 ? 0 : 1;

function tell({ target, seed, what }: Failure): void {
  const folder = join(tmpdir(), "ralph-fuzz-failures");
  const file = join(folder, `${target.replaceAll(/\W/g, "-")}-${seed}.txt`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, TARGETS.find(({ name }) => name === target)?.make(new Random(seed), false) ?? "");
  console.log(`\n${target}, seed ${seed}: ${what}`);
  console.log(`  input:  ${file}`);
  console.log(`  repeat: npm run fuzz -- --target "${target}" --seed ${seed} --inputs 1`);
}
