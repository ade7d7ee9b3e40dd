import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KINDS, useFirst } from "./throw-away-project.ts";

const ROOT = join(import.meta.dirname, "..", "..");

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-package-")));
  npm(ROOT, "pack", "--ignore-scripts", "--pack-destination", folder);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  // What the registry would bring lies here already; without a network nothing else can get in.
  const dependencies = {
    "better-sqlite3": `file:${realpathSync(join(ROOT, "node_modules", "better-sqlite3"))}`,
    ralph: `file:../${tarball}`,
  };
  mkdirSync(join(folder, "user"));
  writeFileSync(join(folder, "user", "package.json"), JSON.stringify({ private: true, dependencies }));
  npm(join(folder, "user"), "install", "--offline", "--ignore-scripts", "--omit=dev");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function npm(cwd: string, ...args: readonly string[]): void {
  const env = { ...process.env, HOME: folder, npm_config_cache: join(folder, "cache") };
  execFileSync("npm", args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
}

test("the tarball brings one package along besides itself", () => {
  const installed = readdirSync(join(folder, "user", "node_modules")).filter((name) => !name.startsWith("."));
  expect(installed.toSorted()).toEqual(["better-sqlite3", "ralph"]);
});

test.each(KINDS.slice(0, 1))("$name: two commands from nothing to an accepted task", (kind) => {
  const program = join(folder, "user", "node_modules", ".bin", "ralph");
  expect(useFirst(program, process.execPath, kind).wrong).toEqual([]);
});

test("nothing runs when it is installed: npm would ask the person about it", () => {
  const packed = readFileSync(join(folder, "user", "node_modules", "ralph", "package.json"), "utf8");
  const { scripts } = JSON.parse(packed) as { readonly scripts: Readonly<Record<string, string>> };
  for (const name of ["preinstall", "install", "postinstall", "prepare"])
    expect(scripts).not.toHaveProperty(name);
});

test("a program can import it, and the types are there", () => {
  const seen = execFileSync(
    process.execPath,
    ["-p", 'import("ralph").then((all) => console.log(Object.keys(all).join()))'],
    {
      cwd: join(folder, "user"),
      encoding: "utf8",
    },
  );
  expect(seen).toContain("runLoop");
  const types = readFileSync(join(folder, "user", "node_modules", "ralph", "dist", "index.d.ts"), "utf8");
  expect([...types.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)).toEqual([]);
});

test("every page that a topic of help names is inside", () => {
  const place = join(folder, "user", "node_modules", "ralph");
  const help = join(place, "docs", "help");
  const named = readdirSync(help).flatMap((name) =>
    [...readFileSync(join(help, name), "utf8").matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, to = ""]) => to),
  );
  expect(named.length).toBeGreaterThan(10);
  for (const to of named) expect([to, existsSync(join(help, to))]).toEqual([to, true]);
});

test("the licences of what is built in are inside", () => {
  const licences = readFileSync(
    join(folder, "user", "node_modules", "ralph", "dist", "licences.txt"),
    "utf8",
  );
  for (const name of ["commander", "preact", "pg-boss", "zod"])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
});
