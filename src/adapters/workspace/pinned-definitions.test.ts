import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { changedDefinitions, pinDefinitions } from "./pinned-definitions.ts";

let repository: TemporaryRepository;

beforeEach(() => {
  repository = temporaryRepository();
  repository.write(
    "package.json",
    JSON.stringify({ version: "1", scripts: { test: "vitest run", lint: "oxlint" } }),
  );
  repository.write("Makefile", "check:\n\t./scripts/check.sh\n\nother:\n\techo other\n");
  repository.write("scripts/check.sh", "exit 0\n");
});
afterEach(() => repository.dispose());

const GATES = [
  { name: "tests", command: "npm test", cwd: null },
  { name: "make", command: "make check", cwd: null },
  { name: "script", command: "./scripts/check.sh", cwd: null },
];

test("gates rest on scripts of a package, targets of a Makefile, and files", () => {
  const { files, pins } = pinDefinitions(repository.root, GATES);
  expect(files).toEqual(["scripts/check.sh"]);
  expect(pins.map(({ gate, rest }) => [gate, rest.is, rest.path])).toEqual([
    ["tests", "npm-script", "package.json"],
    ["make", "make-target", "Makefile"],
  ]);
  expect(changedDefinitions(repository.root, pins)).toEqual([]);
});

test("a definition that changed is named with its gate, anything else in the file is not", () => {
  const { pins } = pinDefinitions(repository.root, GATES);
  repository.write(
    "package.json",
    JSON.stringify({ version: "2", scripts: { test: "vitest run", lint: "true" } }),
  );
  repository.write("Makefile", "check:\n\t./scripts/check.sh\n\nother:\n\techo changed\n");
  expect(changedDefinitions(repository.root, pins)).toEqual([]);
  repository.write("package.json", JSON.stringify({ scripts: { test: "true" } }));
  repository.write("Makefile", "check:\n\ttrue\n");
  expect(changedDefinitions(repository.root, pins)).toEqual([
    { gate: "tests", where: "package.json: scripts.test" },
    { gate: "make", where: "Makefile: target check" },
  ]);
});

test.each<[string, () => void]>([
  ["gone", () => repository.remove("package.json")],
  ["not JSON", () => repository.write("package.json", "{")],
  ["a folder", () => (repository.remove("package.json"), repository.write("package.json/x", ""))],
  ["too big", () => repository.write("package.json", " ".repeat(1024 * 1024 + 1))],
  ["a link that leads outside", () => relink("package.json", "/etc/hostname")],
  ["without the script", () => repository.write("package.json", "{}")],
])("a file that is %s has changed its definitions", (_name, act) => {
  const { pins } = pinDefinitions(repository.root, GATES.slice(0, 1));
  act();
  expect(changedDefinitions(repository.root, pins)).toEqual([
    { gate: "tests", where: "package.json: scripts.test" },
  ]);
});

test("what is not there, or not inside, is nothing to rest on", () => {
  symlinkSync("/bin/sh", join(repository.root, "outside.sh"));
  const commands = [
    "npm run none",
    "make none",
    "./none.sh",
    "./outside.sh",
    "sh ../elsewhere.sh",
    "./scripts",
  ];
  const gates = commands.map((command) => ({ name: command, command, cwd: null }));
  expect(pinDefinitions(repository.root, gates)).toEqual({ files: [], pins: [] });
});

test("a link to a file of the repository protects both", () => {
  symlinkSync("scripts/check.sh", join(repository.root, "check"));
  const { files } = pinDefinitions(repository.root, [{ name: "a", command: "./check", cwd: null }]);
  expect(files).toEqual(["check", "scripts/check.sh"]);
});

test("a gate in a sub-folder rests on what is there", () => {
  repository.write("web/package.json", JSON.stringify({ scripts: { test: "true" } }));
  repository.write("web/run.sh", "");
  const gates = [
    { name: "web", command: "npm test", cwd: "web" },
    { name: "run", command: "sh run.sh", cwd: "web" },
  ];
  const { files, pins } = pinDefinitions(repository.root, gates);
  expect(files).toEqual(["web/run.sh"]);
  repository.write("web/package.json", JSON.stringify({ scripts: { test: "false" } }));
  expect(changedDefinitions(repository.root, pins)).toEqual([
    { gate: "web", where: "web/package.json: scripts.test" },
  ]);
});

function relink(path: string, target: string): void {
  repository.remove(path);
  symlinkSync(target, join(repository.root, path));
}

test("what a script calls is found behind it: files, other scripts, other packages", () => {
  repository.write(
    "package.json",
    JSON.stringify({
      scripts: { test: "npm run check && npm test --prefix web", check: "node tools/check.mjs" },
    }),
  );
  repository.write("tools/check.mjs", "");
  repository.write("web/package.json", JSON.stringify({ scripts: { test: "vitest run" } }));
  const { files, pins } = pinDefinitions(repository.root, [
    { name: "tests", command: "npm test", cwd: null },
  ]);
  expect(files).toEqual(["tools/check.mjs"]);
  expect(pins.map(({ rest }) => rest.path)).toContain("web/package.json");
  repository.write("web/package.json", JSON.stringify({ scripts: { test: "true" } }));
  expect(changedDefinitions(repository.root, pins)).toEqual([
    { gate: "tests", where: "web/package.json: scripts.test" },
  ]);
});

test("a makefile that goes before the one that was there changes the definition", () => {
  const { pins } = pinDefinitions(repository.root, GATES);
  repository.write("GNUmakefile", "check:\n\ttrue\n");
  expect(changedDefinitions(repository.root, pins)).toEqual([
    { gate: "make", where: "Makefile: target check" },
  ]);
});

test("a definition that differs from when the task began has changed, though the run began with it", () => {
  const { pins } = pinDefinitions(repository.root, GATES);
  const before = (path: string): string | null =>
    path === "package.json" ? JSON.stringify({ scripts: { test: "vitest run --strict" } }) : null;
  expect(changedDefinitions(repository.root, pins, before)).toEqual([
    { gate: "tests", where: "package.json: scripts.test" },
  ]);
});
