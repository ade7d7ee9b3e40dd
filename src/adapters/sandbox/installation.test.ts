import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installationOf, interpreterOf } from "./installation.ts";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "ralph-installation-")));
});
afterEach(() => rmSync(home, { recursive: true }));

function file(path: string, text = ""): string {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return join(home, path);
}

function link(path: string, target: string): string {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  symlinkSync(target, join(home, path));
  return join(home, path);
}

test("of a program of npm everything beside it, and the folder with its interpreter", () => {
  const program = file(".nvm/v24/lib/node_modules/@some/agent/cli.js");
  const found = link(".nvm/v24/bin/agent", program);
  expect(installationOf(found, home)).toEqual({
    program,
    places: [join(home, ".nvm/v24/bin"), join(home, ".nvm/v24/lib/node_modules")],
  });
});

test("of a single file its folder", () => {
  const program = file(".local/share/agent/1.2.3");
  const found = link(".local/bin/agent", program);
  expect(installationOf(found, home).places).toEqual([dirname(found), dirname(program)]);
});

test("never the whole HOME, nor what everybody puts into one folder", () => {
  const program = file("agent");
  expect(installationOf(program, home).places).toEqual([program, program]);
  expect(installationOf(program, join(home, "deeper/home")).places).toEqual([program, program]);
});

test.each([
  ["#!/usr/bin/env node\nconsole.log()", "node"],
  ["#!/usr/bin/env -S node --no-warnings\n", "node"],
  ["#! /bin/sh -e\n", "/bin/sh"],
  ["\u007fELF", null],
  ["", null],
])("%j is run by %s", (text, interpreter) => {
  expect(interpreterOf(file("program", text))).toBe(interpreter);
});
