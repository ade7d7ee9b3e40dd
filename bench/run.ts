// `npm run bench`: what Ralph itself costs, beside the floor of the same work done bare, measured in one run.
//   NAME …      only these
//   --record    keep the figures in docs/benchmarks, which docs/benchmarks.md is made from (npm run reference)
//   --check     compare with those that were kept: fails where a ratio is worse than noise explains
import { parseArgs } from "node:util";
import { meetsTarget, ratioOf, targetInWords, type Figure } from "./benchmark.ts";
import { BENCHMARKS } from "./benchmarks.ts";
import { readRecorded, record, regressions } from "./recorded.ts";

const { values, positionals } = asked();
const unknown = positionals.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (unknown.length > 0)
  refuse(`there is no ${unknown.join(", ")}; there are ${Object.keys(BENCHMARKS).join(", ")}`);

const worse: string[] = [];
const remarks: string[] = [];
for (const [name, { about, measure }] of Object.entries(BENCHMARKS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`${name}: ${about}`);
  const figures = await measure();
  for (const figure of figures) console.log(row(figure));
  console.log();
  const recorded = readRecorded(name);
  if (recorded === null) remarks.push(`${name} was never recorded: there is nothing to compare it with`);
  worse.push(...regressions(figures, recorded));
  remarks.push(...figures.filter((figure) => meetsTarget(figure) === false).map(missed));
  if (values.record) record(name, figures);
}
for (const line of [...remarks, ...worse]) console.log(line);
if (values.check && worse.length > 0) process.exitCode = 1;

function asked() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        record: { type: "boolean", default: false },
        check: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return refuse(`${(error as Error).message}; there are --record and --check`);
  }
}

function refuse(what: string): never {
  console.error(`bench: ${what}`);
  process.exit(64);
}

function row(figure: Figure): string {
  const show = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ${figure.unit}`.padStart(11);
  const target = figure.target === undefined ? "" : `   ${targetInWords(figure)}`;
  const ratio = `${ratioOf(figure).toFixed(2)} × (± ${Math.round(figure.spread * 100)} %)`;
  return `  ${figure.name.padEnd(62)}${show(figure.ours)}   floor ${show(figure.floor)}   ${ratio}${target}`;
}

function missed(figure: Figure): string {
  return `${figure.name}: ${figure.ours.toFixed(1)} ${figure.unit}, ${ratioOf(figure).toFixed(2)} × its floor, misses its target: ${targetInWords(figure)}`;
}
