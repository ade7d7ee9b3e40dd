import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { createGit } from "../git.ts";
import { readDiff, type Diff } from "./read-diff.ts";

let repository: TemporaryRepository;

beforeEach(() => {
  repository = temporaryRepository();
});

afterEach(() => repository.dispose());

const redact = (text: string): string => text.replaceAll("hunter22", "[redacted]");

async function changed(from: string | null, to: string | null): Promise<Diff> {
  const diff = await readDiff(createGit(repository.root), { from, to }, redact);
  expect(diff).not.toBeNull();
  return diff!;
}

test("what was added, changed, removed and renamed, each with its lines", async () => {
  const long = Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join("");
  repository.write("gone.txt", "old\n");
  repository.write("old hunter22.txt", long);
  const from = repository.commit();
  repository.remove("gone.txt");
  repository.remove("old hunter22.txt");
  repository.write("new name.txt", long.replace("line 3", "line three"));
  repository.write("added.txt", "diff --git a/x b/x\n@@ -1 +1 @@\nsecret: hunter22\u001b[31m\n");
  repository.write("b hunter22\u001b[31m.txt", "x\n");
  repository.write("src/main.ts", "export const answer = 43;\n");
  const { files, more } = await changed(from, repository.commit());
  expect(more).toBe(0);
  expect(files.map(({ path, from: was, status }) => [path, was, status])).toEqual([
    ["added.txt", null, "added"],
    ["b [redacted].txt", null, "added"],
    ["gone.txt", null, "removed"],
    ["new name.txt", "old [redacted].txt", "renamed"],
    ["src/main.ts", null, "changed"],
  ]);
  expect(files[0]?.hunks).toBe("@@ -0,0 +1,3 @@\n+diff --git a/x b/x\n+@@ -1 +1 @@\n+secret: [redacted]\n");
  expect(files[2]?.hunks).toBe("@@ -1 +0,0 @@\n-old\n");
  expect(files[3]?.hunks).toContain("-line 3\n+line three\n");
  expect(files[4]?.hunks).toBe("@@ -1 +1 @@\n-export const answer = 42;\n+export const answer = 43;\n");
});

test("binary files are named, and what is too long is left out", async () => {
  const from = repository.git("rev-parse", "HEAD");
  repository.write("a.bin", Buffer.from([0, 1, 2, 0, 255]));
  repository.write("b-long.txt", "x".repeat(99).concat("\n").repeat(2_100));
  repository.write("c-one-line.txt", "y".repeat(300_000));
  repository.write("d.txt", "short\n");
  const { files } = await changed(from, repository.commit());
  expect(files.map(({ status, hunks }) => [status, hunks])).toEqual([
    ["binary", null],
    ["added", null],
    ["added", null],
    ["added", "@@ -0,0 +1 @@\n+short\n"],
  ]);
});

test("a file that became a link does not shift what follows", async () => {
  repository.write("b", "text\n");
  const from = repository.commit();
  repository.write("a", "a\n");
  repository.remove("b");
  symlinkSync("a", join(repository.root, "b"));
  repository.write("c", "c\n");
  const { files } = await changed(from, repository.commit());
  expect(files.map(({ path }) => path)).toEqual(["a", "b", "c"]);
  expect(files[1]?.hunks).toContain("-text\n");
  expect(files[1]?.hunks).toContain("+a\n");
  expect(files[2]?.hunks).toBe("@@ -0,0 +1 @@\n+c\n");
});

test("odd names come as they are, whatever the operator's settings", async () => {
  repository.git("config", "diff.noprefix", "true");
  repository.git("config", "color.ui", "always");
  repository.git("config", "diff.external", "/bin/false");
  const names = ['quote".txt', "new\nline.txt", "ünï.txt", " leading", "tab\t.txt"];
  const from = repository.git("rev-parse", "HEAD");
  for (const name of names) repository.write(name, "x\n");
  const { files } = await changed(from, repository.commit());
  expect(files.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
  for (const { hunks } of files) expect(hunks).toBe("@@ -0,0 +1 @@\n+x\n");
});

test("of very many files the first are shown", async () => {
  const from = repository.git("rev-parse", "HEAD");
  mkdirSync(join(repository.root, "many"));
  for (let index = 0; index < 310; index += 1)
    writeFileSync(join(repository.root, "many", `${String(index).padStart(3, "0")}.txt`), `${index}\n`);
  const { files, more } = await changed(from, repository.commit());
  expect(files).toHaveLength(300);
  expect(more).toBe(10);
  expect(files[299]).toMatchObject({ path: "many/299.txt", hunks: "@@ -0,0 +1 @@\n+299\n" });
});

test("over nothing everything is new, and over itself nothing is", async () => {
  const to = repository.git("rev-parse", "HEAD");
  const { files } = await changed(null, to);
  expect(files.map(({ path, status }) => [path, status])).toEqual([
    ["README.md", "added"],
    ["src/main.ts", "added"],
  ]);
  expect(await changed(to, to)).toEqual({ files: [], more: 0 });
  expect(await changed(to, null)).toEqual({ files: [], more: 0 });
});

test.each(["f".repeat(40), "HEAD", "--output=/tmp/x", "h1"])(
  "what is no commit of the repository has no diff: %s",
  async (name) => {
    const head = repository.git("rev-parse", "HEAD");
    const git = createGit(repository.root);
    expect(await readDiff(git, { from: head, to: name }, redact)).toBeNull();
    expect(await readDiff(git, { from: name, to: head }, redact)).toBeNull();
  },
);
