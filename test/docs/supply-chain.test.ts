import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { licencedPackages } from "../../scripts/licenced-packages.ts";
import { ALLOWED_LICENCES, licencesPage, LICENCES_PAGE } from "../../scripts/licences.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("the page of licences is up to date (npm run licences)", async () => {
  expect(read(LICENCES_PAGE)).toBe(await licencesPage());
});

test("every package that is passed on has a licence that allows it", () => {
  const packages = licencedPackages();
  expect(packages.length).toBeGreaterThan(50);
  expect(packages.filter(({ isInPage }) => isInPage).map(({ name }) => name)).toContain("preact");
  expect(packages.filter(({ licence }) => !ALLOWED_LICENCES.has(licence))).toEqual([]);
});

test("no package that is passed on runs anything when it is installed", () => {
  expect(licencedPackages().filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
});

test("one package is installed with the program: the rest is built into it", () => {
  const { dependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  expect(Object.keys(dependencies ?? {})).toEqual(["better-sqlite3"]);
});

test("dependencies are pinned, and the lock file has the hash of each that is passed on", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<
    string,
    Record<string, string>
  >;
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version),
  );
  expect(loose).toEqual([]);
  const registry = "https://registry.npmjs.org/";
  const strangers = licencedPackages().filter(
    ({ resolved, integrity }) =>
      !((resolved ?? registry).startsWith(registry) && integrity.startsWith("sha512-")),
  );
  expect(strangers.map(({ name }) => name)).toEqual([]);
});

test("what is published is the built program with its guides, and nothing else", () => {
  const answer = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [packed] = JSON.parse(answer.slice(answer.indexOf("["))) as [{ files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  const known =
    /^(?:bin\/(?:ralph|start\.cjs|package\.json)|dist\/(?:main|demo-agent|sandbox-bridge|index)\.js|dist\/index\.d\.ts|dist\/licences\.txt|dist\/chunks\/[\w.~-]+\.js|dist\/web\/(?:app\.js|app\.css|index\.html)|docs\/reference\/(?:configuration|licences)\.md|docs\/(?:guide|help)\/[\w-]+\.md|SECURITY\.md|man\/ralph\.1|LICENSE|README\.md|package\.json)$/;
  expect(paths.filter((path) => !known.test(path))).toEqual([]);
  expect(paths).toEqual(
    expect.arrayContaining([
      "bin/ralph",
      "bin/start.cjs",
      "dist/main.js",
      "dist/index.js",
      "dist/index.d.ts",
      "dist/sandbox-bridge.js",
      "dist/web/app.js",
      "LICENSE",
    ]),
  );
});
