import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TEMPORARY_PREFIX } from "../process/atomic-file.ts";
import { areListsTouched, guardList } from "./operators-list.ts";

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

test("a kept list that is damaged is not put back", async () => {
  const root = mkdtempSync(join(tmpdir(), "ralph-list-"));
  const keepIn = join(root, "state");
  const place = { root, path: "TODO.md", keepIn };
  try {
    writeFileSync(join(root, "TODO.md"), "- [ ] one\n");
    await guardList(place, {} as never).keep();
    writeFileSync(join(root, "TODO.md"), "- [x] one\n");
    const kept = join(keepIn, "list", readdirSync(join(keepIn, "list"))[0] ?? "");
    const sound = readFileSync(kept);
    expect(areListsTouched({ root, stateFolder: keepIn })).toBe(true);
    // Without its mark the checksum is not seen, and everything else is as it was.
    const mark = sound.indexOf(',"#":"');
    for (const [at, byte] of sound.entries()) {
      if (at >= mark && at < mark + 6) continue;
      writeFileSync(
        kept,
        Buffer.concat([sound.subarray(0, at), Buffer.from([byte ^ 4]), sound.subarray(at + 1)]),
      );
      expect([at, areListsTouched({ root, stateFolder: keepIn })]).toEqual([at, false]);
    }
  } finally {
    rmSync(root, { recursive: true });
  }
});
