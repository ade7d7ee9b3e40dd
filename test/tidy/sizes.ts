// How large each folder of src/ may be, tests aside. Entries only go down; a change that raises one says why.
import type { Finding } from "./tidy.ts";

export type Size = { readonly lines: number; readonly files: number };

type Counted = { readonly path: string; readonly text: string; readonly isTest: boolean };

/** The share by which an entry may exceed its folder before it has to be lowered. */
const slack = 0.02;

export const sizes: Readonly<Record<string, Size>> = {
  src: { lines: 322, files: 4 },
  "src/adapters/agents": { lines: 2897, files: 18 },
  "src/adapters/files": { lines: 1334, files: 11 },
  "src/adapters/fleet": { lines: 2715, files: 12 },
  "src/adapters/gates": { lines: 308, files: 3 },
  "src/adapters/git": { lines: 5725, files: 26 },
  "src/adapters/notify": { lines: 279, files: 4 },
  "src/adapters/plugins": { lines: 1226, files: 7 },
  "src/adapters/process": { lines: 1702, files: 12 },
  "src/adapters/sandbox": { lines: 1409, files: 6 },
  "src/adapters/store": { lines: 1515, files: 12 },
  "src/adapters/tasks": { lines: 2801, files: 16 },
  "src/adapters/telemetry": { lines: 647, files: 4 },
  "src/app": { lines: 3212, files: 19 },
  "src/cli": { lines: 7857, files: 44 },
  "src/config": { lines: 1975, files: 10 },
  "src/core": { lines: 2340, files: 15 },
  "src/core/demo": { lines: 199, files: 2 },
  "src/core/loop": { lines: 4447, files: 19 },
  "src/core/network": { lines: 124, files: 1 },
  "src/core/prompt": { lines: 560, files: 3 },
  "src/core/report": { lines: 1474, files: 7 },
  "src/core/review": { lines: 671, files: 2 },
  "src/core/streams": { lines: 2317, files: 10 },
  "src/core/verdict": { lines: 2175, files: 14 },
  "src/core/views": { lines: 4932, files: 23 },
  "src/core/words": { lines: 1333, files: 10 },
  "src/engine": { lines: 3653, files: 19 },
  "src/eval": { lines: 1390, files: 11 },
  "src/library": { lines: 352, files: 5 },
  "src/tui": { lines: 2083, files: 15 },
  "src/web": { lines: 6108, files: 38 },
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
