// `npm run package-check`: packs the program, installs it from the tarball into an empty folder for each Node that it
// supports, and goes from nothing to an accepted task in repositories of three kinds. Needs the registry, pytest and Go.
//   --nodes 22,24   only these
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { KINDS, useFirst } from "./throw-away-project.ts";

const ROOT = join(import.meta.dirname, "..", "..");
/** The oldest that package.json allows, then the newest of each line. */
const NODES = "22.14.0,22,24,26";

const { values } = parseArgs({ options: { nodes: { type: "string", default: NODES } } });
const folder = mkdtempSync(join(tmpdir(), "ralph-package-"));
try {
  process.exitCode = check(values.nodes.split(","));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function check(versions: readonly string[]): number {
  npm(ROOT, process.execPath, "pack", "--pack-destination", folder);
  const name = readdirSync(folder).find((one) => one.endsWith(".tgz")) ?? "";
  console.log(`${name}: ${megabytes(statSync(join(folder, name)).size)} MB\n`);
  console.log(row("Node", "installed", ...KINDS.map((kind) => kind.name)));
  const problems = versions.flatMap((version) => checkWith(version, join(folder, name)));
  for (const problem of problems) console.log(`\n${problem}`);
  return problems.length === 0 ? 0 : 1;
}

/** Prints a row of the table; answers what went wrong. */
function checkWith(version: string, tarball: string): readonly string[] {
  const node = nodeOf(version);
  const place = emptyPackage(`with-${version}`);
  // As on a machine that lets no package run anything.
  npm(place, node, "install", tarball, "--omit=dev", "--ignore-scripts");
  const program = join(place, "node_modules", ".bin", "ralph");
  const uses = KINDS.map((kind) => ({ kind, ...useFirst(program, node, kind) }));
  const cells = uses.map(({ wrong, seconds }) =>
    wrong.length === 0 ? `ok, ${seconds.toFixed(1)} s` : "FAILED",
  );
  const exact = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  console.log(row(exact, `${megabytes(sizeOf(join(place, "node_modules")))} MB`, ...cells));
  return uses.flatMap(({ kind, wrong }) => wrong.map((what) => `${exact}, ${kind.name}: ${what}`));
}

/** The package `node` of the registry brings a Node of any version along. */
function nodeOf(version: string): string {
  const place = emptyPackage(`node-${version}`);
  npm(place, process.execPath, "install", `node@${version}`);
  return join(place, "node_modules", "node", "bin", "node");
}

function emptyPackage(name: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, "package.json"), '{ "private": true, "allowScripts": { "node": true } }\n');
  return place;
}

function npm(cwd: string, node: string, ...args: readonly string[]): void {
  const PATH = [dirname(node), process.env["PATH"]].join(delimiter);
  execFileSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd,
    env: { ...process.env, PATH },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

function sizeOf(place: string): number {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

function row(...cells: readonly string[]): string {
  return cells
    .map((cell) => cell.padEnd(12))
    .join("")
    .trimEnd();
}
