// `npm run mutate`: changes the core in thousands of small ways, one at a time, and looks whether a test of the pure ones
// notices. It goes on where it was stopped. `--files src/core/limits` keeps to a part, `--sample 10` to every tenth file.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recordFigures, type Figures } from "../../scripts/record-figures.ts";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "src/core" },
    sample: { type: "string", default: "1" },
    record: { type: "boolean", default: false },
  },
});

const HERE = import.meta.dirname;
const ROOT = join(HERE, "..", "..");

const NOTICED = new Set(["Killed", "Timeout"]);
const REACHED = new Set([...NOTICED, "Survived"]);
const JUDGED = new Set([...REACHED, "NoCoverage"]);

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

if (!existsSync(join(HERE, "node_modules", ".package-lock.json")))
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: HERE, stdio: "inherit" });
const program = join(HERE, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
const files = chosenFiles();
const args = [program, "run", "test/mutation/stryker.config.json", "--mutate", files.join(",")];
const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
if (status === 0) tell(JSON.parse(readFileSync(join(HERE, "report.json"), "utf8")) as Report);
process.exitCode = status ?? 1;

function chosenFiles(): readonly string[] {
  const every = Number(values.sample);
  return globSync(`${values.files}/**/*.ts`, { cwd: ROOT })
    .filter((file) => !file.endsWith(".test.ts"))
    .toSorted()
    .filter((_, index) => index % every === 0);
}

function tell({ files: mutated }: Report): void {
  const counts = new Map<string, { noticed: number; reached: number; all: number }>();
  for (const [file, { mutants }] of Object.entries(mutated)) {
    // What was judged in an earlier run is in the report, too.
    if (!files.includes(file)) continue;
    const folder = file.split("/").slice(0, 3).join("/");
    for (const name of [folder.endsWith(".ts") ? "src/core" : folder, "all"]) {
      const count = counts.get(name) ?? { noticed: 0, reached: 0, all: 0 };
      for (const mutant of mutants) {
        if (!JUDGED.has(mutant.status)) continue;
        count.all += 1;
        if (REACHED.has(mutant.status)) count.reached += 1;
        if (NOTICED.has(mutant.status)) count.noticed += 1;
      }
      counts.set(name, count);
    }
  }
  const figures: Figures = Object.fromEntries([
    ["files", files.length],
    ...[...counts].map(([name, { noticed, reached, all }]) => [
      name,
      `${noticed} of ${all} noticed, ${percent(noticed, all)}; of the ${reached} that these tests reach, ${percent(noticed, reached)}`,
    ]),
  ]);
  console.table(figures);
  const part = values.sample === "1" ? "" : ` --sample ${values.sample}`;
  if (values.record) recordFigures("mutation", `npm run mutate -- --files ${values.files}${part}`, figures);
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;
}
