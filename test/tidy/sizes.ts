// How large each folder of src/ may be, tests aside. Entries only go down; a change that raises one says why.
import type { Finding } from "./tidy.ts";

export type Size = { readonly lines: number; readonly files: number };

type Counted = { readonly path: string; readonly text: string; readonly isTest: boolean };

/** The share by which an entry may exceed its folder before it has to be lowered. */
const slack = 0.02;

export const sizes: Readonly<Record<string, Size>> = {
  src: { lines: 1916, files: 21 },
  "src/adapters/agents": { lines: 3397, files: 20 },
  "src/adapters/exchange": { lines: 1261, files: 7 },
  "src/adapters/files": { lines: 1362, files: 10 },
  "src/adapters/gates": { lines: 297, files: 3 },
  "src/adapters/git": { lines: 964, files: 7 },
  "src/adapters/merging": { lines: 1149, files: 7 },
  "src/adapters/notify": { lines: 288, files: 4 },
  "src/adapters/plugins": { lines: 1295, files: 7 },
  "src/adapters/postgres": { lines: 1857, files: 8 },
  "src/adapters/pull-requests": { lines: 72, files: 1 },
  "src/adapters/sandbox": { lines: 1524, files: 7 },
  "src/adapters/store": { lines: 1758, files: 13 },
  "src/adapters/system": { lines: 1734, files: 15 },
  "src/adapters/tasks": { lines: 4205, files: 20 },
  "src/adapters/telemetry": { lines: 248, files: 2 },
  "src/adapters/workspace": { lines: 3931, files: 19 },
  "src/adapters/worktrees": { lines: 974, files: 4 },
  "src/cli": { lines: 10562, files: 50 },
  "src/config": { lines: 2229, files: 11 },
  "src/core": { lines: 1618, files: 12 },
  "src/core/demo": { lines: 259, files: 2 },
  "src/core/interventions": { lines: 603, files: 2 },
  "src/core/limits": { lines: 503, files: 4 },
  "src/core/logbook": { lines: 64, files: 1 },
  "src/core/loop": { lines: 4306, files: 18 },
  "src/core/network": { lines: 124, files: 1 },
  "src/core/notices": { lines: 267, files: 1 },
  "src/core/operator": { lines: 133, files: 1 },
  "src/core/plan": { lines: 339, files: 4 },
  "src/core/projections": { lines: 3822, files: 14 },
  "src/core/prompt": { lines: 558, files: 3 },
  "src/core/report": { lines: 4605, files: 26 },
  "src/core/review": { lines: 764, files: 2 },
  "src/core/run-report": { lines: 1510, files: 6 },
  "src/core/stages": { lines: 159, files: 1 },
  "src/core/telemetry": { lines: 545, files: 2 },
  "src/core/verdict": { lines: 1812, files: 10 },
  "src/engine": { lines: 3978, files: 22 },
  "src/eval": { lines: 1942, files: 13 },
  "src/library": { lines: 449, files: 7 },
  "src/tui": { lines: 2366, files: 14 },
  "src/web": { lines: 5074, files: 33 },
};

/** Gives a finding for each folder that outgrew its entry, has none, or shrank well below it. */
export function checkSizes(files: readonly Counted[], entries: Readonly<Record<string, Size>>): Finding[] {
  const actual = measure(files);
  const folders = [...new Set([...Object.keys(entries), ...actual.keys()])].toSorted();
  return folders.flatMap((folder) => {
    const is = actual.get(folder) ?? { lines: 0, files: 0 };
    const entry = entries[folder] ?? { lines: 0, files: 0 };
    return (["lines", "files"] as const).flatMap((unit) => compare(folder, unit, is[unit], entry[unit]));
  });
}

function compare(folder: string, unit: keyof Size, is: number, entry: number): Finding[] {
  const facts = `${folder}: ${is} ${unit}, its entry in test/tidy/sizes.ts is ${entry}`;
  if (is > entry) return [`${facts}; make the folder smaller`];
  return entry > is * (1 + slack) ? [`${facts}; lower the entry to ${is}`] : [];
}

function measure(files: readonly Counted[]): Map<string, Size> {
  const found = new Map<string, Size>();
  for (const { path, text, isTest } of files) {
    if (isTest || !path.startsWith("src/")) continue;
    const folder = folderOf(path);
    const { lines, files: count } = found.get(folder) ?? { lines: 0, files: 0 };
    found.set(folder, { lines: lines + countLines(text), files: count + 1 });
  }
  return found;
}

export function countLines(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

/** The families of core and adapters count one by one, every other folder as a whole. */
function folderOf(path: string): string {
  const parts = path.split("/").slice(0, -1);
  const depth = parts[1] === "core" || parts[1] === "adapters" ? 3 : 2;
  return parts.slice(0, depth).join("/");
}
