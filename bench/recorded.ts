import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { ratioOf, type Figure } from "./benchmark.ts";

/** What a benchmark came to when it was last recorded, and where. */
export interface Recorded {
  readonly at: string;
  readonly machine: string;
  readonly figures: readonly Figure[];
}

const FOLDER = join(import.meta.dirname, "..", "docs", "benchmarks");
/** Ratios of two runs on a quiet machine differ by about as much. */
const NOISE = 0.15;
const SPREADS = 3;

export function readRecorded(benchmark: string): Recorded | null {
  const path = pathOf(benchmark);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Recorded) : null;
}

export function record(benchmark: string, figures: readonly Figure[]): void {
  const at = new Date().toISOString().slice(0, "YYYY-MM-DD".length);
  const recorded: Recorded = { at, machine: describeMachine(), figures: figures.map(rounded) };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(pathOf(benchmark), `${JSON.stringify(recorded, null, 2)}\n`);
}

/** What has become worse since it was recorded, by more than noise explains: ratios only. */
export function regressions(figures: readonly Figure[], recorded: Recorded | null): readonly string[] {
  return figures.flatMap((figure) => {
    const before = recorded?.figures.find(({ name }) => name === figure.name);
    if (before === undefined) return [];
    const noise = Math.max(NOISE, SPREADS * Math.max(figure.spread, before.spread));
    const [was, is] = [ratioOf(before), ratioOf(figure)];
    if (is <= was * (1 + noise)) return [];
    return [
      `${figure.name}: ${is.toFixed(2)} × its floor, recorded with ${was.toFixed(2)} ×; noise explains ${Math.round(noise * 100)} %`,
    ];
  });
}

function describeMachine(): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim() || process.arch}, ${gigabytes} GB, ${process.platform} ${release().split("-")[0]}, Node ${process.versions.node}`;
}

function rounded(figure: Figure): Figure {
  const short = (value: number): number => Number(value.toPrecision(4));
  return { ...figure, floor: short(figure.floor), ours: short(figure.ours), spread: short(figure.spread) };
}

function pathOf(benchmark: string): string {
  return join(FOLDER, `${benchmark}.json`);
}
