import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findOutside } from "./find-outside.ts";

test("a program in the workspace is none, whatever way leads to it", () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-outside-"));
  const [workspace, links, real] = ["workspace", "links", "real"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [workspace, links, real]) mkdirSync(path);
  for (const path of [workspace, real]) writeFileSync(join(path, "bwrap"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync(join(workspace, "bwrap"), join(links, "bwrap"));
  const find = (...paths: readonly string[]): string | null =>
    findOutside("bwrap", workspace, { PATH: paths.join(":") });
  expect(find(workspace, ".", "", links, real)).toBe(join(real, "bwrap"));
  expect(find(workspace, links)).toBeNull();
  expect(find(join(folder, "gone"))).toBeNull();
  rmSync(folder, { recursive: true });
});
