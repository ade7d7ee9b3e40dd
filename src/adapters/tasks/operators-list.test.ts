import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TEMPORARY_PREFIX } from "../system/atomic-file.ts";
import { areListsTouched } from "./operators-list.ts";

test("what a killed process had half written beside the kept lists is removed", () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-list-"));
  const { pid } = spawnSync("true");
  const half = `${TEMPORARY_PREFIX}${pid}-half`;
  try {
    for (const place of ["list", "proposals/9", "proposals/10"]) {
      mkdirSync(join(folder, place), { recursive: true });
      writeFileSync(join(folder, place, half), "half");
    }
    expect(areListsTouched({ root: folder, stateFolder: folder })).toBe(false);
    expect(readdirSync(join(folder, "list"))).toEqual([]);
    expect(readdirSync(join(folder, "proposals/10"))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
