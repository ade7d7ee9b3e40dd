// `npm run soak -- --iterations 10000`: one run of the built program, so many iterations long, in one real repository.
// Whatever grows with the length of a run shows here: memory, descriptors, the time an iteration takes, loose objects.
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { recordFigures } from "../../scripts/record-figures.ts";
import { judgeSoak } from "./judge-soak.ts";
import { runSoak } from "./run-soak.ts";
import { soakCurves } from "./soak-curves.ts";

const { values } = parseArgs({
  options: {
    iterations: { type: "string", default: "10000" },
    keep: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});
const iterations = Number(values.iterations);
if (!Number.isInteger(iterations) || iterations < 2_000) {
  console.error(
    "soak: --iterations must be a whole number, 2000 or more: the first 1000 are what the rest is compared with",
  );
  process.exit(64);
}
const soak = await runSoak(iterations);
const { figures, complaints } = judgeSoak(soak);
for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(28)} ${value}`);
for (const complaint of complaints) console.log(`grows: ${complaint}`);
if (values.record) {
  const command = `npm run soak -- --iterations ${iterations}`;
  console.log(recordFigures("soak", command, figures, soakCurves(soak)));
}
if (values.keep) console.log(`kept: ${soak.folder}`);
else rmSync(soak.folder, { recursive: true, force: true });
process.exitCode = complaints.length === 0 ? 0 : 1;
