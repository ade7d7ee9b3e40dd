import { meetsTarget, ratioOf, targetInWords, type Figure } from "../bench/benchmark.ts";
import { BENCHMARKS } from "../bench/benchmarks.ts";
import { readRecorded } from "../bench/recorded.ts";

/** The page that is made from what `npm run bench -- --record` has measured. */
export function benchmarksPage(generated: string): string {
  const sections = Object.entries(BENCHMARKS).flatMap(([name, { about }]) => {
    const recorded = readRecorded(name);
    if (recorded === null) return [];
    return `## ${name}

${about}

| | ours | floor | ratio | wanted |
| --- | --- | --- | --- | --- |
${recorded.figures.map(row).join("\n")}

\`npm run bench -- ${name}\` · ${recorded.at} · ${recorded.machine}
`;
  });
  return `# What Ralph itself costs

${generated}

Each figure stands beside a floor that was measured in the same run, round by round in turn: machines differ and are noisy, ratios
much less so. \`npm run bench\` measures all of them, \`npm run bench -- NAME …\` some; with \`--record\` it writes them here, and with
\`--check\` it fails where a ratio has become worse than noise explains. The number after ± is how far half of the rounds
lay from the usual ratio. Close everything else while it runs.

${sections.join("\n")}
`;
}

function row(figure: Figure): string {
  const show = (value: number): string =>
    `${value.toLocaleString("en", { maximumSignificantDigits: 3 })} ${figure.unit}`;
  const ratio = `${ratioOf(figure).toFixed(2)} × ± ${Math.round(figure.spread * 100)} %`;
  const wanted = `${targetInWords(figure)}${meetsTarget(figure) === false ? " (missed)" : ""}`;
  return `| ${figure.name} | ${show(figure.ours)} | ${figure.floorIs}: ${show(figure.floor)} | ${ratio} | ${wanted} |`;
}
