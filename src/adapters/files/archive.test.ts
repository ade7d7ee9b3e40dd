import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Archive, readListFiles, writeArchive } from "./archive.ts";

let home: string;
let root: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ralph-archive-"));
  root = join(home, "repository");
  mkdirSync(join(root, ".ralph"), { recursive: true });
  write("TODO.md", "- [x] one\n");
  write(".ralph/prd.md", "# Wanted\n");
  write(".ralph/blocked.txt", "no key\n");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("archiving", () => {
  test("leaves everything where it was until the files are replaced", () => {
    const archive = archived();
    expect(read("TODO.md")).toBe("- [x] one\n");
    expect(archive.files).toEqual(["TODO.md", "prd.md", "blocked.txt", "summary.md"]);
    archive.replace();
    expect(read("TODO.md")).toBe("fresh\n");
    expect(existsSync(join(root, ".ralph/blocked.txt"))).toBe(false);
    expect(inFolder(archive)).toEqual({
      "TODO.md": "- [x] one\n",
      "blocked.txt": "no key\n",
      "prd.md": "# Wanted\n",
      "summary.md": "TODO.md .ralph/prd.md .ralph/blocked.txt",
    });
  });

  test("that fails in the middle leaves no folder and no file changed", () => {
    expect(() =>
      archived({
        summary: () => {
          throw new Error("no summary");
        },
      }),
    ).toThrow("no summary");
    expect(readdirSync(join(root, ".ralph/archive"))).toEqual([]);
    expect(read("TODO.md")).toBe("- [x] one\n");
  });

  test("removes what a killed one left half-written", () => {
    write(".ralph/archive/.ralph-tmp-1234/TODO.md", "- [");
    archived();
    expect(readdirSync(join(root, ".ralph/archive"))).toEqual(["label"]);
  });

  test("takes another name when there is a folder of that name", () => {
    expect([archived(), archived(), archived()].map(({ folder }) => folder.split("/").at(-1))).toEqual([
      "label",
      "label-2",
      "label-3",
    ]);
  });

  test("does not overwrite what somebody wrote meanwhile", () => {
    const archive = archived();
    write("TODO.md", "- [ ] two\n");
    expect(() => archive.replace()).toThrow("TODO.md was changed while it was being archived");
    expect(read("TODO.md")).toBe("- [ ] two\n");
  });

  test("keeps files of one name from two places apart", () => {
    write("prd.md", "# Beside the list\n");
    const archive = archived();
    expect(archive.files).toEqual(["TODO.md", "prd.md", "2-prd.md", "blocked.txt", "summary.md"]);
    expect(inFolder(archive)).toMatchObject({ "prd.md": "# Wanted\n", "2-prd.md": "# Beside the list\n" });
  });

  test("copies logs, but no link among them", () => {
    write("../secret.txt", "secret");
    write(".ralph/logs/iteration-001.log", "words");
    symlinkSync("../../../secret.txt", join(root, ".ralph/logs/iteration-002.log"));
    const { files, folder } = archived({ includeLogs: true });
    expect(files).toContain("logs/iteration-001.log");
    expect(readdirSync(join(folder, "logs"))).toEqual(["iteration-001.log"]);
    expect(read(".ralph/logs/iteration-001.log")).toBe("words");
  });
});

describe("a symbolic link", () => {
  test("to a file inside is followed, and stays", () => {
    rmSync(join(root, ".ralph/prd.md"));
    write("docs/wanted.md", "# Inside\n");
    symlinkSync("../docs/wanted.md", join(root, ".ralph/prd.md"));
    const archive = archived();
    archive.replace();
    expect(inFolder(archive)).toMatchObject({ "prd.md": "# Inside\n" });
    expect(read("docs/wanted.md")).toBe("fresh\n");
    expect(read(".ralph/prd.md")).toBe("fresh\n");
  });

  test.each([
    ["to a file", ".ralph/prd.md", "../../secret.txt"],
    ["in place of the archive", ".ralph/archive", "../.."],
  ])("%s outside is refused", (_what, path, target) => {
    write("../secret.txt", "secret");
    rmSync(join(root, path), { force: true });
    symlinkSync(target, join(root, path));
    expect(() => archived()).toThrow("leads outside");
    expect(read("../secret.txt")).toBe("secret");
    expect(readdirSync(home).toSorted()).toEqual(["repository", "secret.txt"]);
  });

  test("in place of a letter is no letter", () => {
    write("../secret.txt", "secret");
    rmSync(join(root, ".ralph/blocked.txt"));
    symlinkSync("../../secret.txt", join(root, ".ralph/blocked.txt"));
    expect(archived().files).toEqual(["TODO.md", "prd.md", "summary.md"]);
  });
});

function archived(more: Partial<Parameters<typeof writeArchive>[0]> = {}): Archive {
  const ralphDir = join(root, ".ralph");
  const source = [{ path: "TODO.md", isAgents: false }];
  const files = readListFiles({ root, ralphDir, source, letters: ["blocked.txt"] });
  return writeArchive({
    ralphDir,
    name: "label",
    files: files.map((file) => ({ file, fresh: file.role === "letter" ? null : "fresh\n" })),
    includeLogs: false,
    summary: (all) => all.map(({ from }) => from).join(" "),
    ...more,
  });
}

function inFolder({ folder }: Archive): Record<string, string> {
  const names = readdirSync(folder).toSorted();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function write(path: string, text: string): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
