// `npm run lock`, after every change of dependencies: puts back what npm drops from package-lock.json and needs
// for `npm ci`. With --check it changes nothing and fails where something is missing.
//
// 1. Optional packages for other platforms which the registry at hand does not carry, as with some mirrors:
//    without them `npm ci` refuses the lock file.
// 2. `"gypfile": false`: without it `npm ci` compiles packages that bring their binaries along.
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

addForeignPlatforms();
addGypfile();
const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, "en"));
const after = `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`;
if (after === before) {
  console.log("lock: complete");
} else if (process.argv.includes("--check")) {
  console.error("package-lock.json is incomplete; run: npm run lock");
  process.exitCode = 1;
} else {
  writeFileSync(file, after);
  console.log("lock: completed");
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
