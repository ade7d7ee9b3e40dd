// `npm run faults`: full and read-only disks, missing rights, a spoilt repository, several who write at once, a clock
// that is set back. Each is brought about for real; then it is mended, and the next run must go on with nothing lost.
//   --only WORDS   those whose name has these words
//   --json         last, the figures as one line; --record keeps them in docs/proof/figures
import { parseArgs } from "node:util";
import { recordFigures } from "../../scripts/record-figures.ts";
import { canCompile, canMount } from "./fault.ts";
import { FAULTS } from "./faults.ts";
import { suffer } from "./suffer.ts";
import { TROUBLES } from "./troubles.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});

const startedAt = performance.now();
const all = [
  ...FAULTS.map((fault) => ({
    name: fault.name,
    lacks:
      fault.needsRoot === true && !canMount
        ? "root and the right to mount"
        : fault.needsCompiler === true && !canCompile
          ? "Linux and a C compiler"
          : null,
    meet: () => suffer(fault),
  })),
  ...TROUBLES.map(({ name, meet }) => ({ name, lacks: null, meet })),
].filter(({ name }) => name.includes(values.only));
const figures = { faults: all.length, passed: 0, failed: 0, skipped: 0, seconds: 0 };
for (const { name, lacks, meet } of all) {
  if (lacks !== null) {
    figures.skipped += 1;
    console.log(`SKIPPED  ${name}: needs ${lacks}`);
    continue;
  }
  const wrong = await meet().catch((error: unknown) => [String(error)]);
  figures[wrong.length === 0 ? "passed" : "failed"] += 1;
  console.log(`${wrong.length === 0 ? "ok      " : "FAILED  "} ${name}`);
  for (const sentence of wrong) console.log(`  ${sentence}`);
  if (wrong.length > 0) console.log(`  repeat: npm run faults -- --only "${name}"`);
}
figures.seconds = Math.round((performance.now() - startedAt) / 1_000);
if (values.record) console.log(`written: ${recordFigures("faults", "npm run faults", figures)}`);
console.log(`${figures.passed} passed, ${figures.failed} failed, ${figures.skipped} skipped`);
if (values.json) console.log(JSON.stringify(figures));
process.exitCode = figures.failed === 0 ? 0 : 1;
