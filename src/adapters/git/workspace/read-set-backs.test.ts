import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { GateLine } from "../../../core/verdict/check-files.ts";
import { openCheckout } from "./checkout.ts";
import { nextTick } from "./git-workspace.ts";
import { readBlobs, readSetBacks, type FoundSetBacks } from "./read-set-backs.ts";

const TEST = 'import test from "node:test";\ntest("a", () => {\n  check();\n});\n';
const ODD = "test/ö mit\nZeile.test.js";

let repository: TemporaryRepository;
let base: string;
let since: number;

beforeEach(async () => {
  repository = temporaryRepository();
  repository.write(".gitignore", "node_modules/\n*.ini\n");
  repository.write("test/a.test.js", TEST);
  repository.write(ODD, TEST);
  repository.write("check.sh", "#!/bin/sh\n");
  repository.write("package.json", '{ "scripts": { "test": "node --test" } }\n');
  repository.write("packages/old/src.js", "x\n");
  base = repository.commit();
  since = (await nextTick(repository.root)) ?? 0;
});
afterEach(() => repository.dispose());

const GATES: readonly GateLine[] = [{ command: "npm test", cwd: null }];

async function read(
  changed: readonly string[],
  { gates = GATES, from = base }: { gates?: readonly GateLine[]; from?: string | null } = {},
): Promise<FoundSetBacks> {
  return readSetBacks(await openCheckout(repository.root, ".ralph"), { base: from, changed, gates, since });
}
async function plan(
  changed: readonly string[],
  options?: Parameters<typeof read>[1],
): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await read(changed, options)).setBacks.map(({ path, to }) => [path, to]));
}

test("a change of the program alone asks git nothing", async () => {
  const broken = { root: repository.root, git: {} as never };
  const request = { base, changed: ["src/main.ts", "README.md"], gates: GATES, since };
  expect(await readSetBacks(broken, request)).toEqual({ setBacks: [], replacedTools: [] });
});

test("changed and deleted checks are set back, by any name", async () => {
  repository.remove("test/a.test.js");
  repository.write(ODD, "");
  expect(await plan(["test/a.test.js", ODD, "src/main.ts"])).toEqual({
    "test/a.test.js": "old",
    [ODD]: "old",
  });
});

test("a check that only gained a test needs nothing", async () => {
  repository.write("test/a.test.js", `${TEST}\ntest("b", () => {\n  assert(1);\n});\n`);
  expect(await plan(["test/a.test.js"])).toEqual({});
});

test("a check that is what it was needs nothing, one that lost its mode does", async () => {
  expect(await plan(["test/a.test.js", "check.sh"])).toEqual({});
  chmodSync(join(repository.root, "check.sh"), 0o755);
  expect(await plan(["check.sh"])).toEqual({ "check.sh": "old" });
});

test("a folder, a link and a file beyond a link in the place of a check are changes", async () => {
  repository.remove("check.sh");
  mkdirSync(join(repository.root, "check.sh"));
  repository.remove("test");
  symlinkSync("/tmp", join(repository.root, "test"));
  expect(await plan(["check.sh", "test/a.test.js"])).toEqual({ "check.sh": "old", "test/a.test.js": "old" });
});

test("of package.json the parts that steer checks are merged", async () => {
  repository.write("package.json", '{ "scripts": { "test": "true" }, "dependencies": { "a": "1" } }\n');
  const { setBacks } = await read(["package.json"]);
  expect(setBacks).toMatchObject([{ path: "package.json", to: "merged" }]);
  expect(JSON.parse((setBacks[0] as { text: string }).text)).toEqual({
    scripts: { test: "node --test" },
    dependencies: { a: "1" },
  });
});

test("new settings go, but not those of a new folder", async () => {
  const paths = ["tsconfig.json", "packages/old/tsconfig.json", "packages/new/tsconfig.json"];
  for (const path of paths) repository.write(path, "{}");
  expect(await plan(paths)).toEqual({ "tsconfig.json": "gone", "packages/old/tsconfig.json": "gone" });
});

test("without a first commit there is nothing old", async () => {
  repository.write("conftest.py", "x\n");
  repository.write(".npmrc", "x\n");
  expect(await plan(["conftest.py", ".npmrc", "test/a.test.js"], { from: null })).toEqual({});
});

test("in a project that was only described new settings are part of the work", async () => {
  repository.git("rm", "-rq", "test", "check.sh", "package.json", "packages", "src");
  const from = repository.commit();
  repository.write("tsconfig.json", "{}");
  expect(await plan(["tsconfig.json"], { from })).toEqual({});
  repository.write("src/main.ts", "x\n");
  expect(await plan(["tsconfig.json"], { from: repository.commit() })).toEqual({});
  repository.remove("tsconfig.json");
  const later = repository.commit();
  repository.write("tsconfig.json", "{}");
  expect(await plan(["tsconfig.json"], { from: later })).toEqual({ "tsconfig.json": "gone" });
});

test("an object that an agent has written over is not the old check", async () => {
  const oid = repository.git("rev-parse", `${base}:check.sh`);
  const path = `.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`;
  const forged = "#!/bin/sh\nexit 0\n";
  repository.remove(path);
  repository.write(path, deflateSync(`blob ${forged.length}\0${forged}`));
  const { git } = await openCheckout(repository.root, ".ralph");
  expect(repository.git("show", `${base}:check.sh`)).toContain("exit 0");
  expect(await readBlobs(git, [oid])).toEqual(new Map());
});

test("large and binary checks are set back", async () => {
  const bytes = Buffer.alloc(2_000_000, 255);
  repository.write("test/big.js", bytes);
  repository.write("test/image.png", bytes.subarray(0, 100));
  const from = repository.commit();
  repository.write("test/big.js", Buffer.concat([bytes, bytes]));
  repository.write("test/image.png", bytes.subarray(0, 99));
  expect(await plan(["test/big.js", "test/image.png"], { from })).toEqual({
    "test/big.js": "old",
    "test/image.png": "old",
  });
});

test("paths that lead elsewhere are left out", async () => {
  expect(await plan(["../test/a.test.js", "test/../../x.test.js", "test/.git/config.test.js"])).toEqual({});
});

test("ignored files with an effect of their own are found if they came since, tracked ones are not", async () => {
  repository.write("packages/old/pytest.ini", "[pytest]\n");
  since = (await nextTick(repository.root)) ?? 0;
  repository.write("pytest.ini", "[pytest]\n");
  repository.write("test/deep/er/tox.ini", "\n");
  repository.write("src/tox.ini", "\n");
  repository.write(".npmrc", "script-shell=/bin/true\n");
  repository.git("add", ".npmrc");
  const gates = [...GATES, { command: "pytest", cwd: "packages/old" }];
  expect(await plan([], { gates })).toEqual({ "pytest.ini": "gone", "test/deep/er/tox.ini": "gone" });
});

test("programs in the place of links to packages are told", async () => {
  const bin = (name: string): string => join(repository.root, "node_modules/.bin", name);
  repository.write("node_modules/.bin/old", "#!/bin/sh\n");
  since = (await nextTick(repository.root)) ?? 0;
  repository.write("node_modules/.bin/eslint", "#!/bin/sh\n");
  symlinkSync("../typescript/bin/tsc", bin("tsc"));
  symlinkSync("../../fake.sh", bin("vitest"));
  symlinkSync("/tmp/fake.sh", bin("jest"));
  expect((await read([])).replacedTools.toSorted()).toEqual([
    "node_modules/.bin/eslint",
    "node_modules/.bin/jest",
    "node_modules/.bin/vitest",
  ]);
});
