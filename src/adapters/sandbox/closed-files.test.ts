import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closedFiles } from "./closed-files.ts";

test("what is not for everybody is found, in whatever depth", () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-closed-"));
  const make = (path: string, mode: number): string => {
    writeFileSync(join(folder, path), "");
    chmodSync(join(folder, path), mode);
    return join(folder, path);
  };
  mkdirSync(join(folder, "ssl/private"), { recursive: true });
  mkdirSync(join(folder, "ssh"));
  chmodSync(join(folder, "ssl/private"), 0o700);
  make("hosts", 0o644);
  make("ssl/private/key", 0o644);
  const shadow = make("shadow", 0o640);
  const key = make("ssh/host_key", 0o600);
  symlinkSync(shadow, join(folder, "link"));
  expect(closedFiles(folder).toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { is: "hidden", path: shadow },
    { is: "hidden", path: key },
    { is: "empty", path: join(folder, "ssl/private") },
  ]);
  expect(closedFiles(folder, 1)).toEqual([{ is: "hidden", path: shadow }]);
  expect(closedFiles(join(folder, "gone"))).toEqual([]);
  rmSync(folder, { recursive: true });
});
