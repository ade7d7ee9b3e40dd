// `npm run lock`, after every change of dependencies: puts back what npm drops from package-lock.json and needs
// for `npm ci`. With --check it changes nothing and fails where something is missing.
//
// 1. Optional packages for other platforms which the registry at hand does not carry, as with some mirrors:
//    without them `npm ci` refuses the lock file.
// 2. Their checksums, as far as the registry has them. What builds `dist` has one on every platform; without one are only
//    programs that look at our source and write nothing.
// 3. `"gypfile": false`: without it `npm ci` compiles packages that bring their binaries along.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Entry = {
  version?: string;
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
};

const root = join(import.meta.dirname, "..");
const file = join(root, "package-lock.json");
const before = readFileSync(file, "utf8");
const lock = JSON.parse(before) as { packages: Record<string, Entry> };

const isCheck = process.argv.includes("--check");
const LOOKS_ONLY = /^@(?:oxc-parser|oxlint|oxlint-tsgolint)\//;

addForeignPlatforms();
if (!isCheck) addChecksums();
addGypfile();
const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, "en"));
const after = `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`;
if (after === before) {
  console.log("lock: complete");
} else if (isCheck) {
  console.error("package-lock.json is incomplete; run: npm run lock");
  process.exitCode = 1;
} else {
  writeFileSync(file, after);
  console.log("lock: completed");
}

const unsealed = withoutChecksum().filter((name) => !LOOKS_ONLY.test(name));
if (unsealed.length > 0) {
  console.error(`no checksum for ${unsealed.join(", ")}; run where the registry has them: npm run lock`);
  process.exitCode = 1;
}

function withoutChecksum(): readonly string[] {
  return Object.entries(lock.packages)
    .filter(([folder, { integrity, link }]) => folder !== "" && integrity === undefined && link !== true)
    .map(([folder]) => nameOf(folder));
}

function addChecksums(): void {
  for (const [folder, entry] of Object.entries(lock.packages)) {
    if (folder === "" || entry["integrity"] !== undefined || entry["link"] === true) continue;
    const asked = `${nameOf(folder)}@${entry.version}`;
    const said = spawnSync("npm", ["view", asked, "dist.integrity"], { encoding: "utf8" }).stdout.trim();
    if (/^sha512-\S+$/.test(said)) entry["integrity"] = said;
    else console.log(`lock: the registry has no checksum of ${asked}`);
  }
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}

function addForeignPlatforms(): void {
  for (const [owner, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (!/^\d+\.\d+\.\d+$/.test(version) || isLocked(owner, name)) continue;
      const folder = owner.slice(0, owner.lastIndexOf("node_modules/"));
      const { os, cpu, libc } = platformOf(name);
      lock.packages[`${folder}node_modules/${name}`] = {
        version,
        cpu,
        ...(dev === true && { dev }),
        ...(libc && { libc }),
        optional: true,
        ...(os && { os }),
      };
    }
  }
}

/** Looks where Node would look: beside the owner, then outwards. */
function isLocked(owner: string, name: string): boolean {
  for (let folder = owner; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules/"), 0))) {
    if (lock.packages[join(folder, "node_modules", name)] !== undefined) return true;
    if (folder === "") return false;
  }
}

function platformOf(name: string): { os?: string[]; cpu: string[]; libc?: string[] } {
  const os = /android|darwin|freebsd|linux|openharmony|win32/.exec(name)?.[0];
  const cpu = /arm64|arm|x64|ia32|ppc64|riscv64|s390x|wasm32/.exec(name)?.[0];
  if (cpu === undefined)
    throw new Error(`no platform in the name of ${name}: complete its lock entry by hand`);
  const libc =
    os !== "linux" ? undefined : /musl/.test(name) ? "musl" : /gnu/.test(name) ? "glibc" : undefined;
  return { ...(os && { os: [os] }), cpu: [cpu], ...(libc && { libc: [libc] }) };
}

function addGypfile(): void {
  for (const [folder, entry] of Object.entries(lock.packages)) {
    const manifest = join(root, folder, "package.json");
    if (folder === "" || !existsSync(manifest)) continue;
    const { gypfile } = JSON.parse(readFileSync(manifest, "utf8")) as { gypfile?: boolean };
    if (gypfile === false) entry["gypfile"] = false;
  }
}
