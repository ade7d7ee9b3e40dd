// `npm run agents:outdated`: asks the registry which pinned agent programs have been behind for more than a month.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MONTH_MS = 30 * 24 * 60 * 60 * 1_000;

/** When each version of a package came out. */
type Releases = Readonly<Record<string, string>>;

/** What to say of a pinned version when a newer one has been out for more than a month; null when none has. */
export function behind(name: string, pinned: string, releases: Releases, now: number): string | null {
  const newer = Object.entries(releases)
    .filter(([version]) => /^\d+\.\d+\.\d+$/.test(version) && compare(version, pinned) > 0)
    .toSorted(([a], [b]) => compare(a, b));
  const since = Math.min(...newer.map(([, at]) => Date.parse(at)));
  const newest = newer.at(-1)?.[0];
  if (newest === undefined || now - since <= MONTH_MS) return null;
  return `${name} ${pinned} has been behind since ${new Date(since).toISOString().slice(0, 10)}; the newest is ${newest}`;
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

if (import.meta.main) {
  const manifest = readFileSync(join(import.meta.dirname, "programs", "package.json"), "utf8");
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  const late = Object.entries(dependencies).map(([name, pinned]) => {
    const times = execFileSync("npm", ["view", name, "time", "--json"], { encoding: "utf8" });
    return behind(name, pinned, JSON.parse(times) as Releases, Date.now());
  });
  const said = late.filter((sentence) => sentence !== null);
  console.log(said.length === 0 ? "No pinned program is more than a month behind." : said.join("\n"));
  process.exitCode = said.length === 0 ? 0 : 1;
}
