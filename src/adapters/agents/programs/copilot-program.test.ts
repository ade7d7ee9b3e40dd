import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nativeCopilot } from "./copilot-program.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-copilot-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

const LOADER = "node_modules/@github/copilot/npm-loader.js";

function write(path: string, text: string, mode = 0o644): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

/** What `npm install` leaves: the loader, and a link to it by the name that a person types. */
function installLoader(): string {
  write("node_modules/@github/copilot/package.json", '{"name": "@github/copilot", "type": "module"}');
  const loader = write(LOADER, "#!/usr/bin/env node\n", 0o755);
  const link = join(folder, "node_modules/.bin/copilot");
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(loader, link);
  return link;
}

/** The package of a platform, which offers its program and nothing else. */
function installNative(under: string, platform: string = process.platform, mode = 0o755): string {
  const name = `@github/copilot-${platform}-${process.arch}`;
  const manifest = { name, type: "module", exports: { ".": "./copilot" } };
  write(`${under}/${name}/package.json`, JSON.stringify(manifest));
  return write(`${under}/${name}/copilot`, "\u007FELF", mode);
}

test("is found beside npm's loader, through the link that a person calls", () => {
  const link = installLoader();
  const native = installNative("node_modules");
  expect(nativeCopilot(link)).toBe(native);
  expect(nativeCopilot(join(folder, LOADER))).toBe(native);
});

test("is found inside the loader's own package, where npm puts it when two versions are there", () => {
  const link = installLoader();
  installNative("node_modules");
  const inner = installNative("node_modules/@github/copilot/node_modules");
  expect(nativeCopilot(link)).toBe(inner);
});

test.runIf(process.platform === "linux")("is found for the other C library of Linux", () => {
  const link = installLoader();
  const native = installNative("node_modules", "linuxmusl");
  expect(nativeCopilot(link)).toBe(native);
});

test("is not looked for elsewhere: without it, for another platform, or where it cannot be run", () => {
  const link = installLoader();
  expect(nativeCopilot(link)).toBeNull();
  installNative("node_modules", "plan9");
  expect(nativeCopilot(link)).toBeNull();
  installNative("node_modules", process.platform, 0o644);
  expect(nativeCopilot(link)).toBeNull();
});

test("a copilot that did not come by npm is taken as it is, and so is one that is gone", () => {
  expect(nativeCopilot(write("opt/copilot", "\u007FELF", 0o755))).toBeNull();
  expect(nativeCopilot(join(folder, "opt/gone"))).toBeNull();
});
